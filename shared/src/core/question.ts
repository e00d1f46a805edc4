import { type MessageHeard, messageSignal, type UserMessage } from "./message.ts";
import type { Run, RunEvent } from "./run.ts";

/** The run waits for a person: `question` is what it asks. */
export type QuestionAsked = {
  readonly type: "question-asked";
  readonly question: string;
  readonly kind: "question" | "approval" | "authorization";
  /** The ask whose agent wants to know, where another agent does. */
  readonly askId?: string;
};

/**
 * Asks a person and waits for the next message on the task, across restarts and as long as it takes, or `timeoutMs`. Undefined when nobody
 * answered in that time.
 */
export async function askPerson(
  run: Run,
  question: Omit<QuestionAsked, "type">,
  timeoutMs?: number,
): Promise<UserMessage | undefined> {
  const asked = { type: "question-asked", ...question } satisfies QuestionAsked & RunEvent;
  const wait = (branch: Run) =>
    branch.signal<UserMessage>(messageSignal, { reason: "input-required", events: [asked] });
  const silence = (branch: Run) => branch.sleep(timeoutMs ?? 0).then(() => null);
  const answer = timeoutMs === undefined ? await wait(run) : await run.race<UserMessage | null>([wait, silence]);
  if (answer === null) return undefined;
  run.emit({ type: "message-heard", messageId: answer.messageId, as: "answer" } satisfies MessageHeard);
  return answer;
}
