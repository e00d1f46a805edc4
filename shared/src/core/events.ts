import * as z from "zod";
import { type ErrorCode, errorCodes } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Part } from "./message.ts";
import type { RunEvent } from "./run.ts";
import type { StoredFile } from "./workspace.ts";

/** A list as events hold it: nobody changes it. */
const list = <Item extends z.ZodType>(item: Item) => z.array(item) as unknown as z.ZodType<readonly z.output<Item>[]>;
/** A record whose newer fields, of a later version, are passed over. */
const record = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape) as unknown as z.ZodType<Readonly<z.output<z.ZodObject<Shape>>>>;

const text = z.string();
/** Data of others, passed on as it is: it came as JSON. */
const json = z.custom<Json>((value) => value !== undefined);
const storedFile: z.ZodType<StoredFile> = record({ sha256: text, name: text, mediaType: text, size: z.number() });
const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text, mediaType: text.exactOptional() }),
  z.object({ type: z.literal("file"), sha256: text, name: text, mediaType: text, size: z.number() }),
  z.object({ type: z.literal("url"), url: text, mediaType: text.exactOptional(), name: text.exactOptional() }),
  z.object({ type: z.literal("data"), data: json, mediaType: text.exactOptional() }),
]) as z.ZodType<Part>;
const parts = list(part);
const usage = record({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().nullable(),
  source: z.enum(["provider", "estimate"]),
});
const taskUsage = record({
  tokens: z.number(),
  outputTokens: z.number().exactOptional(),
  usd: z.number(),
  unpriced: z.boolean(),
});
/** A code that a later version has added is known to this one as a failure of the task. */
const fault = record({
  code: (z.enum(Object.keys(errorCodes)) as unknown as z.ZodType<ErrorCode>).catch("task_failed"),
  message: text,
});
const takenIn = list(text);
const toolCall = record({ id: text, name: text, arguments: text });
const ask = { askId: text, agent: text };
const modelCall = { usage, discarded: usage.exactOptional(), model: text, milliseconds: z.number() };

type Definition<Shape extends z.ZodRawShape> = { readonly version: number; readonly schema: z.ZodObject<Shape> };

/**
 * An event type: the version its events are written in, and their fields. A field may be added,
 * never changed; else the version goes up.
 */
function event<Shape extends z.ZodRawShape>(version: number, shape: Shape): Definition<Shape> {
  return { version, schema: z.object(shape) };
}

/**
 * Every event of a journal, defined once. What a run tells is stored in this shape, and the journal
 * outlives upgrades: it is decoded through this table where it is read (`readEvent`). Beside these
 * a flow tells events of its own, a `FlowEvent` each.
 */
export const eventTypes = {
  /**
   * A message of the user was accepted; the first event of every run, and again for every answer.
   */
  "message-received": event(1, {
    messageId: text,
    parts,
    metadata: z.custom<{ readonly [key: string]: Json }>(isObject).exactOptional(),
  }),
  /**
   * The agent took a message in: into the conversation, or as the answer to its question. `parts`
   * are as it keeps them, where that differs from what was sent: files under the names they got in
   * the workspace. `takenIn`, on a task's first message: what the one who asks had taken in.
   */
  "message-heard": event(1, {
    messageId: text,
    as: z.enum(["message", "answer"]),
    parts: parts.exactOptional(),
    takenIn: takenIn.exactOptional(),
  }),
  "step-started": event(1, { step: z.number(), maxSteps: z.number() }),
  /** `discarded`: of answers that broke off before this one and were asked for again. */
  "model-replied": event(1, { text, toolCalls: list(toolCall), ...modelCall }),
  /** A tool asked the model something for one of its calls. */
  "model-asked": event(1, { callId: text, ...modelCall }),
  "tool-started": event(1, { callId: text, name: text, arguments: text }),
  /** `takenIn`: what the result brought into the task, where the tool's name alone does not say. */
  "tool-ended": event(1, {
    callId: text,
    name: text,
    text,
    isError: z.boolean(),
    milliseconds: z.number(),
    images: list(storedFile).exactOptional(),
    takenIn: takenIn.exactOptional(),
  }),
  /**
   * Older messages were replaced by `summary` in what the model reads; the newest `kept` stayed,
   * and of the user's words before them `pinned`. `usage` is what the model call for the summary
   * used, where it answered.
   */
  "context-compacted": event(1, {
    summary: text,
    kept: z.number(),
    pinned: z.number().exactOptional(),
    usage: usage.exactOptional(),
    discarded: usage.exactOptional(),
  }),
  /**
   * Another agent is asked. An ask is open from this event, which is stored before anything is
   * sent, until its `agent-answered`: that is how a task at another agent is found again, whatever
   * happened to the asking process. `askId` names the ask in this run's events, and is the
   * messageId at the other agent; `agent` is the name the asker calls it by, `url` the address of
   * its card, `text` one short line and `parts` the whole message; `hops` counts the agents the
   * task passes through with this one.
   */
  "agent-asked": event(1, { ...ask, url: text, text, parts, contextId: text.exactOptional(), hops: z.number() }),
  /** The agent has the message: this is its task. */
  "agent-accepted": event(1, { ...ask, taskId: text, contextId: text }),
  /**
   * One short line of what the agent is doing, and what its task had used by then, where it tells;
   * at most a hundred of an ask are told.
   */
  "agent-progressed": event(1, { ...ask, text, usedSoFar: taskUsage.exactOptional() }),
  /**
   * How the task there ended: as A2A says it, or given up at the asker's deadline. `left`: it may
   * still be at work there; that is tried again later.
   */
  "agent-answered": event(1, {
    ...ask,
    state: z.enum(["completed", "failed", "canceled", "rejected", "timed-out"]),
    files: list(storedFile),
    usage: taskUsage.exactOptional(),
    error: fault.exactOptional(),
    left: z.boolean().exactOptional(),
  }),
  /**
   * The run waits for a person: `question` is what it asks. `askId`: the ask whose agent wants to
   * know, where another agent does.
   */
  "question-asked": event(1, {
    question: text,
    kind: z.enum(["question", "approval", "authorization"]),
    askId: text.exactOptional(),
  }),
  /**
   * Something the run noticed about itself: a repetition, a bound coming near, a cut-off answer,
   * tools that are not there; or that it waits, and how long.
   */
  "notice-given": event(1, {
    kind: z.enum(["stuck", "budget", "truncated", "tools", "waiting"]),
    text,
    pauseMs: z.number().exactOptional(),
  }),
  /**
   * A file the run made, or its final answer. The answer is the last artifact of a run, and the
   * only one named `answer`; `takenIn` on it is what the task had taken in when it gave it.
   */
  "artifact-added": event(1, {
    artifactId: text,
    name: text,
    description: text.exactOptional(),
    parts,
    takenIn: takenIn.exactOptional(),
  }),
  /** The engine's own: the run stopped with a cause that a person has to remove. */
  "run-paused": event(1, { error: record({ code: text.exactOptional(), message: text }).exactOptional() }),
  /** The engine's own: a paused run tries again. */
  "run-resumed": event(1, {}),
  /**
   * The engine's own, and the last event of every run, appended in the transaction that ends it.
   */
  "run-ended": event(1, { status: z.enum(["completed", "failed", "canceled"]), error: fault.exactOptional() }),
} as const;

/** The name of one of them. */
export type EventType = keyof typeof eventTypes;

/** An event of this type. */
export type EventOf<Type extends EventType> = Type extends EventType
  ? { readonly type: Type } & (Type extends "run-resumed"
      ? unknown
      : Readonly<z.output<(typeof eventTypes)[Type]["schema"]>>)
  : never;

/** What a run tells in the words of its journal, but for what only a flow tells. */
export type JournalEvent = EventOf<EventType>;

/** The last event of every run. */
export type RunEnded = EventOf<"run-ended">;

/**
 * What a flow tells beside the events that every run has: `type` is the flow's own noun-verb,
 * `note` one line for people, which every view shows as it is, and `data` the rest. Some keys of
 * `data` mean the same in every flow: `outcome` (`completed`, `passed`, `failed`, `not_passed`,
 * `blocked`, `canceled`) says how what it tells of came out, and `begun: true` that it begins;
 * `agent` is whom it is about.
 */
export type FlowEvent = {
  readonly type: string;
  readonly note: string;
  readonly data?: { readonly [key: string]: Json | undefined };
};

/** A `FlowEvent` as it was read: `of` is its type. */
export type FlowTold = { readonly type: "flow-told"; readonly of: string } & Required<Omit<FlowEvent, "type">>;

/** An event of a later version, which this one passes over and passes on. */
export type UnknownEvent = { readonly type: "unknown"; readonly of: string };

/** An event of a journal as it was read. */
export type ReadEvent = JournalEvent | FlowTold | UnknownEvent;

/** What a reader of events may meet: a view has an answer for each. */
export const readTypes: readonly ReadEvent["type"][] = [
  ...(Object.keys(eventTypes) as EventType[]),
  "flow-told",
  "unknown",
];

/**
 * Decodes an event that was stored or that came over a wire. Anything with a type is an event: what
 * a later version wrote is `unknown` here, and so is what does not fit its type. Flows of earlier
 * versions told their data beside the note.
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
  const isNew = typeof data === "object" && data !== null && !Array.isArray(data);
  return {
    type: "flow-told",
    of: type,
    note,
    data: isNew ? (data as FlowTold["data"]) : { ...beside, ...formerly(type, beside) },
  };
}

/**
 * An event in the form in which it is stored and sent; undefined for one that this version does not
 * know.
 */
export function writtenEvent(event: ReadEvent): RunEvent | undefined {
  if (event.type === "unknown") return undefined;
  if (event.type !== "flow-told") return event as JournalEvent & RunEvent;
  const { of: type, note, data } = event;
  return { type, note, data };
}

/**
 * A stored event as it is sent: one of an earlier version in today's form, one of a later as it is.
 */
export function sentEvent(stored: RunEvent): RunEvent {
  return writtenEvent(readEvent(stored)) ?? stored;
}

/**
 * What events of the flows of earlier versions said by their type, in the keys that all flows
 * share.
 */
function formerly(type: string, { met }: { readonly [field: string]: unknown }): FlowTold["data"] {
  if (["step-assigned", "branch-begun", "iteration-begun"].includes(type)) return { begun: true };
  if (type === "policy-settled") return { outcome: met === true ? "completed" : "failed" };
  if (type === "argument-made") return { outcome: "completed" };
  return type === "debater-absent" ? { outcome: "blocked" } : {};
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNewer({ version = 1 }: RunEvent, known: number): boolean {
  return typeof version === "number" && version > known;
}
