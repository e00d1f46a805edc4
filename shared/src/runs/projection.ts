import type { StoredEvent } from "../core/engine.ts";
import { type EventOf, type ReadEvent, type RunEnded, readEvent } from "../core/events.ts";
import type { Part } from "../core/message.ts";
import { countEvent, noCount, type TaskUsage, type UsageCount, usageOf } from "../core/usage.ts";
import { statusText } from "./status-text.ts";

/**
 * A message of the conversation; `seq` names the agent's own ones, which have no id of a sender.
 */
export type HistoryEntry = {
  readonly seq: number;
  readonly role: "user" | "agent";
  readonly messageId?: string;
  readonly parts: readonly Part[];
  readonly metadata?: Readonly<Record<string, unknown>>;
};

/** An artifact as its newest event left it. */
export type ProjectedArtifact = Omit<EventOf<"artifact-added">, "type">;

/** What the events of a run up to `seq` add up to. A value: applying an event makes a new one. */
export type TaskProjection = {
  readonly seq: number;
  /** Time of the newest event, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the agent has done anything beyond receiving the message. */
  readonly started: boolean;
  readonly history: readonly HistoryEntry[];
  readonly artifacts: readonly ProjectedArtifact[];
  /**
   * The question the run waits on, until an answer, the next step, or the end of the ask that it
   * came from.
   */
  readonly question?: EventOf<"question-asked">["kind"];
  /** That ask, where another agent wants to know. */
  readonly asker?: string;
  /**
   * The newest thing worth a line of status, and the event it came from; while a question is open,
   * the question.
   */
  readonly status?: { readonly seq: number; readonly text: string };
  readonly paused: boolean;
  readonly count: UsageCount;
  readonly end?: RunEnded;
};

/** The fold of no events. */
export const emptyProjection: TaskProjection = {
  seq: 0,
  at: 0,
  started: false,
  history: [],
  artifacts: [],
  paused: false,
  count: noCount,
};

/** What the task has used so far, the agents it asked included. */
export function projectedUsage({ count }: TaskProjection): TaskUsage {
  return usageOf(count);
}

/**
 * The fold with one more event, which must be the next in order. Events of unknown type only move
 * `seq`.
 */
export function applyEvent(projection: TaskProjection, stored: StoredEvent): TaskProjection {
  const event = readEvent(stored.event);
  const next: TaskProjection = {
    ...projection,
    seq: stored.seq,
    at: stored.at,
    started: projection.started || event.type !== "message-received",
    count: countEvent(projection.count, event),
  };
  const projected = withEvent(next, stored.seq, event);
  const text = statusText(event);
  // Whoever is asked has to read the question, whatever else is at work meanwhile.
  const isHeard = projected.question === undefined || event.type === "question-asked" || event.type === "run-paused";
  return text === undefined || !isHeard ? projected : { ...projected, status: { seq: stored.seq, text } };
}

/** The fold without a question, and without what was said of it. */
function unasked({ question: _, asker: __, status: ___, ...rest }: TaskProjection): TaskProjection {
  return rest;
}

function withEvent(projection: TaskProjection, seq: number, event: ReadEvent): TaskProjection {
  switch (event.type) {
    case "message-received": {
      const rest = unasked(projection);
      const { messageId, parts, metadata } = event;
      const entry = { seq, role: "user" as const, messageId, parts, ...(metadata === undefined ? {} : { metadata }) };
      return { ...rest, history: [...projection.history, entry] };
    }
    case "question-asked": {
      const entry = { seq, role: "agent" as const, parts: [{ type: "text" as const, text: event.question }] };
      const { asker: _, ...rest } = projection;
      const asker = event.askId === undefined ? {} : { asker: event.askId };
      return { ...rest, ...asker, question: event.kind, history: [...projection.history, entry] };
    }
    case "step-started":
      return projection.question === undefined ? projection : unasked(projection);
    case "artifact-added": {
      const { type: _, ...artifact } = event;
      return {
        ...projection,
        artifacts: [...projection.artifacts.filter((a) => a.artifactId !== artifact.artifactId), artifact],
      };
    }
    case "agent-answered":
      return projection.asker === event.askId ? unasked(projection) : projection;
    case "run-paused":
      return { ...projection, paused: true };
    case "run-resumed": {
      const { status: _, ...rest } = projection;
      return { ...rest, paused: false };
    }
    case "run-ended":
      return { ...unasked(projection), paused: false, end: event };
    // What these tell is not part of what a task is.
    case "message-heard":
    case "model-replied":
    case "model-asked":
    case "tool-started":
    case "tool-ended":
    case "context-compacted":
    case "agent-asked":
    case "agent-accepted":
    case "agent-progressed":
    case "notice-given":
    case "flow-told":
    case "unknown":
      return projection;
  }
}
