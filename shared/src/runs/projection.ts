import type { EventOf, ReadEvent, RunEnded } from "../core/events/events.ts";
import { readEvent } from "../core/events/read-event.ts";
import type { Part } from "../core/message.ts";
import type { StoredEvent } from "../core/runs/engine.ts";
import { countEvent, noCount, type TaskUsage, type UsageCount, usageOf } from "../core/usage.ts";
import { statusText } from "./status-text.ts";

/**
 * A message of the conversation; `seq` identifies the agent's messages, which have no sender's id.
 */
export type HistoryEntry = {
  readonly seq: number;
  readonly role: "user" | "agent";
  readonly messageId?: string;
  readonly parts: readonly Part[];
  readonly metadata?: Readonly<Record<string, unknown>>;
};

/** An artifact in its newest version. */
export type ProjectedArtifact = Omit<EventOf<"artifact-added">, "type">;

/**
 * The state that a run's events up to `seq` add up to. Immutable: applying an event makes a new
 * one.
 */
export type TaskProjection = {
  readonly seq: number;
  /** Time of the newest event, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the agent has done anything beyond receiving the message. */
  readonly started: boolean;
  readonly history: readonly HistoryEntry[];
  readonly artifacts: readonly ProjectedArtifact[];
  /** The agents it asked, each once, in the order of their first ask. */
  readonly agents: readonly string[];
  /**
   * The kind of the open question, until an answer, the next step, or the end of the ask it came
   * from.
   */
  readonly question?: EventOf<"question-asked">["kind"];
  /** The number of the event that asked it. */
  readonly askedBy?: number;
  /** The call that the open question is about. */
  readonly approval?: NonNullable<EventOf<"question-asked">["approval"]>;
  /** The ask the question came from, and its task there, if another agent asked it. */
  readonly asker?: string;
  readonly from?: NonNullable<EventOf<"question-asked">["from"]>;
  /** The newest status line and the event it came from; while a question is open, the question. */
  readonly status?: { readonly seq: number; readonly text: string };
  readonly paused: boolean;
  readonly count: UsageCount;
  readonly end?: RunEnded;
};

/** The projection of no events. */
export const emptyProjection: TaskProjection = {
  seq: 0,
  at: 0,
  started: false,
  history: [],
  artifacts: [],
  agents: [],
  paused: false,
  count: noCount,
};

/** What the task has used so far, the agents it asked included. */
export function projectedUsage({ count }: TaskProjection): TaskUsage {
  return usageOf(count);
}

/**
 * The projection with one more event, which must be the next in order. Events of unknown type only
 * advance `seq`.
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
  // The open question stays visible, whatever else happens meanwhile.
  const isShown = projected.question === undefined || event.type === "question-asked" || event.type === "run-paused";
  return text === undefined || !isShown ? projected : { ...projected, status: { seq: stored.seq, text } };
}

/** The projection without its question and the status line of the question. */
function withoutQuestion(projection: TaskProjection): TaskProjection {
  const { question, askedBy, approval, asker, from, status, ...rest } = projection;
  return rest;
}

function withEvent(projection: TaskProjection, seq: number, event: ReadEvent): TaskProjection {
  switch (event.type) {
    case "message-received": {
      const rest = withoutQuestion(projection);
      const { messageId, parts, metadata } = event;
      const entry = { seq, role: "user" as const, messageId, parts, ...(metadata === undefined ? {} : { metadata }) };
      return { ...rest, history: [...projection.history, entry] };
    }
    case "question-asked": {
      const entry = { seq, role: "agent" as const, parts: [{ type: "text" as const, text: event.question }] };
      const { asker, from, approval, ...rest } = projection;
      const about = {
        ...(event.askId !== undefined && { asker: event.askId }),
        ...(event.from && { from: event.from }),
        ...(event.approval && { approval: event.approval }),
      };
      return { ...rest, ...about, question: event.kind, askedBy: seq, history: [...projection.history, entry] };
    }
    case "step-started":
      return projection.question === undefined ? projection : withoutQuestion(projection);
    case "artifact-added": {
      const { type: _, ...artifact } = event;
      return {
        ...projection,
        artifacts: [...projection.artifacts.filter((a) => a.artifactId !== artifact.artifactId), artifact],
      };
    }
    case "agent-asked":
      return projection.agents.includes(event.agent)
        ? projection
        : { ...projection, agents: [...projection.agents, event.agent] };
    case "agent-answered":
      return projection.asker === event.askId ? withoutQuestion(projection) : projection;
    case "run-paused":
      return { ...projection, paused: true };
    case "run-resumed": {
      const { status: _, ...rest } = projection;
      return { ...rest, paused: false };
    }
    case "run-ended":
      return { ...withoutQuestion(projection), paused: false, end: event };
    // These events do not change a task's state.
    case "message-heard":
    case "model-replied":
    case "model-asked":
    case "tool-started":
    case "tool-ended":
    case "context-compacted":
    case "memory-recalled":
    case "agent-accepted":
    case "agent-progressed":
    case "agent-used":
    case "notice-given":
    case "flow-told":
    case "unknown":
      return projection;
  }
}
