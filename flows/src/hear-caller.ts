import type { Run } from "@manyhands/shared/durable/run";
import { askPerson, type QuestionAsked } from "@manyhands/shared/tools/human/question";
import { type MessageHeard, messageSignal, type UserMessage } from "@manyhands/shared/tools/human/user-message";
import type { FlowState } from "./flow-state.ts";

/** What the caller has said to the working flow since the last look. */
export async function hearCaller(run: Run): Promise<readonly string[]> {
  const messages = await run.poll<UserMessage>(messageSignal);
  for (const { messageId } of messages) {
    run.emit({ type: "message-heard", messageId, as: "message" } satisfies MessageHeard);
  }
  return messages.map(textOf);
}

/** Asks the caller and waits for the answer; the time this takes is not the flow's. */
export async function askCaller(run: Run, state: FlowState, question: Omit<QuestionAsked, "type">): Promise<string> {
  const askedAt = await clock(run);
  const answer = await askPerson(run, question);
  state.pausedMs += (await clock(run)) - askedAt;
  return answer === undefined ? "" : textOf(answer);
}

function clock(run: Run): Promise<number> {
  return run.step("clock", async () => Date.now(), { effect: "pure" });
}

function textOf({ parts }: UserMessage): string {
  return parts
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "data" ? [JSON.stringify(part.data)] : []))
    .join("\n");
}
