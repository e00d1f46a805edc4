import type { JournalEvent } from "manyhands/internal/core/events/events";

/** An event that a flow defined for itself: views show its note. */
export type FlowSent = {
  readonly type: string;
  readonly note: string;
  readonly data?: { readonly [key: string]: unknown };
};

/** An event as the gateway sends it: of a known type, or one that only a flow knows. */
export type SentEvent = JournalEvent | FlowSent;

/** A stored event with its number and its time. */
export type StoredEvent = { readonly seq: number; readonly at: string; readonly event: SentEvent };

/** Whether an event is one of the journal's own types, by its name. */
export function isEvent<Type extends JournalEvent["type"]>(
  event: SentEvent,
  type: Type,
): event is Extract<JournalEvent, { readonly type: Type }> {
  return event.type === type;
}

/** Whether a flow defined the event itself. */
export function isFlowEvent(event: SentEvent): event is FlowSent {
  return "note" in event && typeof event.note === "string";
}
