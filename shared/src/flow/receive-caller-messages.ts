import type { EventOf } from "../core/events/events.ts";
import { messageSignal, type Part, type UserMessage } from "../core/message.ts";
import type { Run } from "../core/runs/run.ts";
import { sourcesIn } from "../core/taken-in.ts";
import { askPerson } from "../core/tools/question.ts";
import type { FlowState } from "./flow-state.ts";

/** What the caller has said to the running flow since the last call. */
export async function receiveCallerMessages(run: Run, state: FlowState): Promise<readonly string[]> {
  await collect(run, state);
  return state.pendingMessages.splice(0);
}

/**
 * Asks the caller and waits for the answer; the wait does not count as the flow's time. Messages
 * sent before the question do not answer it, and stay unread.
 */
export async function askCaller(
  run: Run,
  state: FlowState,
  question: Omit<EventOf<"question-asked">, "type">,
): Promise<string> {
  await collect(run, state);
  const askedAt = await clock(run);
  const answer = await askPerson(run, question);
  state.pausedMs += (await clock(run)) - askedAt;
  if (answer === undefined) return "";
  heard(state, answer);
  return messageText(answer);
}

/**
 * Counts what the caller said from now on: its files, what it brings in and, if the caller is the
 * user, its words.
 */
export function heard({ hops, said, added, takenIn }: FlowState, message: UserMessage): void {
  const text = messageText(message);
  if (hops === 0 && text !== "") said.push(text);
  added.push(...filesOf(message));
  for (const source of sourcesIn(message.parts)) takenIn.add(source);
}

async function collect(run: Run, state: FlowState): Promise<void> {
  for (const message of await run.poll<UserMessage>(messageSignal)) {
    run.emit({ type: "message-heard", messageId: message.messageId, as: "message" } satisfies EventOf<"message-heard">);
    state.pendingMessages.push(messageText(message));
    heard(state, message);
  }
}

function clock(run: Run): Promise<number> {
  return run.step("clock", async ({ now }) => now(), { effect: "pure" });
}

function filesOf({ parts }: UserMessage): Part[] {
  return parts.filter(({ type }) => type === "file" || type === "url");
}

function messageText({ parts }: UserMessage): string {
  return parts
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "data" ? [JSON.stringify(part.data)] : []))
    .join("\n");
}
