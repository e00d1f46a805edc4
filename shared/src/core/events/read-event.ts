import { isObject } from "../json.ts";
import type { RunEvent } from "../runs/run.ts";
import { type EventType, eventTypes, type JournalEvent, type ReadEvent, type ReadFlowEvent } from "./events.ts";

/**
 * Decodes an event from the store or from a wire. Anything with a type is an event; one that a
 * later version wrote, or that does not fit its type, is `unknown`. Flows of earlier versions kept
 * their data beside the note.
 */
export function readEvent(stored: RunEvent): ReadEvent {
  const { type } = stored;
  if (Object.hasOwn(eventTypes, type)) {
    const { version, schema } = eventTypes[type as EventType];
    const parsed = isNewer(stored, version) ? undefined : schema.safeParse(stored);
    return parsed?.success ? ({ type, ...parsed.data } as JournalEvent) : { type: "unknown", of: type };
  }
  const { type: _, note, data, ...beside } = stored;
  if (typeof note !== "string") return { type: "unknown", of: type };
  return {
    type: "flow-told",
    of: type,
    note,
    data: isObject(data) ? (data as ReadFlowEvent["data"]) : { ...beside, ...formerly(type, beside) },
  };
}

/**
 * An event in the form in which it is stored and sent; undefined if this version does not know it.
 */
export function writtenEvent(event: ReadEvent): RunEvent | undefined {
  if (event.type === "unknown") return undefined;
  if (event.type !== "flow-told") return event as JournalEvent & RunEvent;
  const { of: type, note, data } = event;
  return { type, note, data };
}

/**
 * A stored event as it is sent: today's form for an event of an earlier version, unchanged for one
 * of a later version.
 */
export function sentEvent(stored: RunEvent): RunEvent {
  return writtenEvent(readEvent(stored)) ?? stored;
}

/**
 * What flow events of earlier versions expressed by their type, in the keys that all flows share.
 */
function formerly(type: string, { met }: { readonly [field: string]: unknown }): ReadFlowEvent["data"] {
  if (["step-assigned", "branch-begun", "iteration-begun"].includes(type)) return { begun: true };
  if (type === "policy-settled") return { outcome: met === true ? "completed" : "failed" };
  if (type === "argument-made") return { outcome: "completed" };
  return type === "debater-absent" ? { outcome: "blocked" } : {};
}

function isNewer({ version = 1 }: RunEvent, known: number): boolean {
  return typeof version === "number" && version > known;
}
