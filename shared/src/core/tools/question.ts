import type { EventOf } from "../events/events.ts";
import { messageSignal, type UserMessage } from "../message.ts";
import type { Run } from "../runs/run.ts";

/**
 * Asks a person and waits for the next message on the task, across restarts, as long as it takes or
 * at most `timeoutMs`. Undefined if nobody answered in that time.
 */
export async function askPerson(
  run: Run,
  question: Omit<EventOf<"question-asked">, "type">,
  timeoutMs?: number,
): Promise<UserMessage | undefined> {
  const asked = { type: "question-asked", ...question } satisfies EventOf<"question-asked">;
  const wait = (branch: Run) =>
    branch.signal<UserMessage>(messageSignal, { reason: "input-required", events: [asked] });
  const silence = (branch: Run) => branch.sleep(timeoutMs ?? 0).then(() => null);
  const answer = timeoutMs === undefined ? await wait(run) : await run.race<UserMessage | null>([wait, silence]);
  if (answer === null) return undefined;
  run.emit({ type: "message-heard", messageId: answer.messageId, as: "answer" } satisfies EventOf<"message-heard">);
  return answer;
}
