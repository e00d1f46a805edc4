import { type Engine, terminalStatuses } from "../core/engine.ts";
import { type ReadEvent, readEvent } from "../core/events.ts";
import type { Run } from "../core/run.ts";
import { sourcesIn, type TakenIn } from "../core/taken-in.ts";
import { foldMessages } from "./fold-messages.ts";
import { recordedSources } from "./recorded-sources.ts";
import type { TaskMessage } from "./task-state.ts";

/** The ids of the tasks of this conversation that ended before now, oldest first: what they told never changes any more. */
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

/** What those tasks left: the conversation, and what was taken in. */
export type Earlier = { readonly messages: readonly TaskMessage[]; readonly takenIn: TakenIn };

/** Reads it from their journals. */
export async function readEarlier(ids: readonly string[], engine: Pick<Engine, "events">): Promise<Earlier> {
  let messages: TaskMessage[] = [];
  const takenIn = new Set<string>();
  for (const id of ids) {
    const events = (await engine.events(id)).map(({ event }) => readEvent(event));
    messages = foldMessages(messages, events);
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
    default:
      return [];
  }
}
