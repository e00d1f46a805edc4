import type { EventOf, ReadEvent, RunEnded } from "../core/events/events.ts";
import { readEvent } from "../core/events/read-event.ts";
import { presentRecalled, type Recalled, type RecalledEntry } from "../core/memory.ts";
import type { Part } from "../core/message.ts";
import { type Engine, terminalStatuses } from "../core/runs/engine.ts";
import type { Run } from "../core/runs/run.ts";
import { sourcesIn, type TakenIn } from "../core/taken-in.ts";
import type { TaskMessage } from "./task/agent-state.ts";
import { recordedSources } from "./task/recorded-sources.ts";
import { compacted } from "./think/pinned.ts";

/**
 * The ids of this conversation's tasks that have ended, oldest first; their journals never change
 * again.
 */
export async function earlierTasks(run: Run, kind: string, engine: Pick<Engine, "list">): Promise<string[]> {
  const { contextId, principal } = run;
  const found: { id: string; createdAt: number }[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list({
      contextId,
      principal,
      kind,
      statuses: terminalStatuses,
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.runs);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found.sort((one, other) => one.createdAt - other.createdAt).map((earlier) => earlier.id);
}

/**
 * What those tasks were shown of the memory and the conversation still has: a compaction may have
 * taken away what came before it.
 */
export async function recalledEarlier(
  ids: readonly string[],
  engine: Pick<Engine, "events">,
): Promise<readonly RecalledEntry[]> {
  let recalled: readonly RecalledEntry[] = [];
  for (const id of ids)
    for (const { event } of await engine.events(id)) {
      const read = readEvent(event);
      if (read.type === "context-compacted") recalled = [];
      else if (read.type === "memory-recalled") recalled = [...recalled, ...read.entries];
    }
  return recalled;
}

/** What of the memory a task was shown, as a message that is not the user's. */
export function recalledMessages({ entries }: Pick<Recalled, "entries">): TaskMessage[] {
  return entries.length === 0 ? [] : [{ ...said([{ type: "text", text: presentRecalled(entries) }]), note: true }];
}

/** What those tasks left: the conversation, and what they took in. */
export type EarlierTasks = { readonly messages: readonly TaskMessage[]; readonly takenIn: TakenIn };

/** Reads the conversation so far from the journals of these tasks. */
export async function readEarlier(ids: readonly string[], engine: Pick<Engine, "events">): Promise<EarlierTasks> {
  let messages: TaskMessage[] = [];
  const takenIn = new Set<string>();
  for (const id of ids) {
    const events = (await engine.events(id)).map(({ event }) => readEvent(event));
    messages = projectMessages(messages, events);
    for (const source of events.flatMap(sourcesOfEvent)) takenIn.add(source);
  }
  return { messages, takenIn: [...takenIn] };
}

function sourcesOfEvent(event: ReadEvent): TakenIn {
  switch (event.type) {
    case "message-received":
      return sourcesIn(event.parts);
    case "tool-ended":
      return recordedSources(event);
    case "message-heard":
    case "artifact-added":
      return event.takenIn ?? [];
    case "memory-recalled":
      return event.takenIn;
    default:
      return [];
  }
}

/**
 * The conversation after one more task, projected from its events, so that a later task of the same
 * context knows its history. First the messages the task itself held (an answer to a question is in
 * the result of the call that asked), then the messages it never read and, unless it completed, how
 * it ended.
 */
export function projectMessages(earlier: readonly TaskMessage[], events: readonly ReadEvent[]): TaskMessage[] {
  let messages = [...earlier];
  let goal: TaskMessage | undefined;
  // A client may give several messages the same id.
  let pending: readonly Received[] = [];
  for (const event of events) {
    if (event.type === "message-received") pending = [...pending, event];
    else if (event.type === "memory-recalled") messages.push(...recalledMessages(event));
    else if (event.type === "context-compacted" && goal !== undefined) {
      messages = compacted(messages, goal, event);
    } else if (event.type === "run-ended") {
      messages.push(...pending.map(({ parts }) => said(parts)), ...ending(event));
    } else {
      const received = event.type === "message-heard" ? pending.find(hasIdOf(event)) : undefined;
      const found = messagesOf(event, received?.parts);
      pending = pending.filter((one) => one !== received);
      messages.push(...found);
      goal ??= found[0];
    }
  }
  return messages;
}

type Received = EventOf<"message-received">;

function hasIdOf({ messageId }: EventOf<"message-heard">) {
  return (one: Received) => one.messageId === messageId;
}

/** The messages that an event adds; `received` are the parts of the one that it says was heard. */
function messagesOf(event: ReadEvent, received: readonly Part[] = []): TaskMessage[] {
  switch (event.type) {
    case "message-heard":
      return event.as === "answer" ? [] : [{ ...said(event.parts ?? received), ...foreignOf(event) }];
    case "model-replied": {
      const { text, toolCalls, observation, images } = event;
      const seen = { role: "observation", ...(images && { images }) } as const;
      const reply = { role: "assistant", text, toolCalls } as const;
      return observation === undefined ? [reply] : [{ ...seen, ...observation }, reply];
    }
    case "tool-ended": {
      const { callId, name, text, isError, images, shows } = event;
      return [{ role: "tool", callId, name, text, isError, ...(images && { images }), ...(shows && { shows }) }];
    }
    default:
      return [];
  }
}

/**
 * Files are the user's own; what pages, tools, agents and webhooks brought may have written the
 * message.
 */
function foreignOf({ takenIn = [] }: EventOf<"message-heard">): { readonly foreign?: true } {
  return takenIn.every((source) => source === "file" || source === "data") ? {} : { foreign: true };
}

function said(parts: readonly Part[]) {
  return { role: "user", parts } as const;
}

/**
 * Without a note about its end, the request of a canceled or failed task would still read as open.
 */
function ending({ status, error }: RunEnded): TaskMessage[] {
  if (status === "completed") return [];
  const how = status === "canceled" ? "was canceled" : `failed: ${error?.message ?? "unknown reason"}`;
  return [{ ...said([{ type: "text", text: `[The task above ended here; it ${how}]` }]), note: true }];
}
