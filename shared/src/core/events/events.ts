import * as z from "zod";
import { type ErrorCode, errorCodes } from "../errors.ts";
import { isObject, type Json } from "../json.ts";
import { memoryKinds } from "../memory.ts";
import type { Metadata, Part } from "../message.ts";
import type { StoredFile } from "../workspace.ts";

/** A read-only array. */
const list = <Item extends z.ZodType>(item: Item) => z.array(item) as unknown as z.ZodType<readonly z.output<Item>[]>;
/** A read-only object; fields added by a later version are dropped. */
const record = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape) as unknown as z.ZodType<Readonly<z.output<z.ZodObject<Shape>>>>;

const text = z.string();
/** Somebody else's data, passed on unchanged: it arrived as JSON. */
const json = z.custom<Json>((value) => value !== undefined);
const storedFile: z.ZodType<StoredFile> = record({ sha256: text, name: text, mediaType: text, size: z.number() });
const metadata = z.custom<Metadata>(isObject).exactOptional();
const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text, mediaType: text.exactOptional(), metadata }),
  z.object({ type: z.literal("file"), sha256: text, name: text, mediaType: text, size: z.number() }),
  z.object({
    type: z.literal("url"),
    url: text,
    mediaType: text.exactOptional(),
    name: text.exactOptional(),
    metadata,
  }),
  z.object({ type: z.literal("data"), data: json, mediaType: text.exactOptional(), metadata }),
]) as z.ZodType<Part>;
const parts = list(part);
const usage = record({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteTokens: z.number().exactOptional(),
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
/** An error code that a later version has added reads as `task_failed`. */
const fault = record({
  code: (z.enum(Object.keys(errorCodes)) as unknown as z.ZodType<ErrorCode>).catch("task_failed"),
  message: text,
});
const takenIn = list(text);
const shown = record({
  of: text,
  whole: text.exactOptional(),
  brief: text.exactOptional(),
  again: text.exactOptional(),
});
const toolCall = record({ id: text, name: text, arguments: text });
/** What a call would do, and what allowing it for its task allows. */
const judged = { risk: text.exactOptional(), forTask: text.exactOptional() };
/**
 * A call that a person is asked to allow: `id` names it, as its arguments and risk are, in this run
 * and in the answer; `risk` says what it would do.
 */
const approval = record({ id: text, callId: text, name: text, arguments: text, ...judged });
/** Continues the observation marked `since`, if given; `brief` is what stays of it in the end. */
const observation = record({
  text,
  mark: text.exactOptional(),
  since: text.exactOptional(),
  brief: text.exactOptional(),
});
const ask = { askId: text, agent: text };
/** `request` names what the model was asked among the run's recorded requests. */
const modelCall = {
  usage,
  discarded: usage.exactOptional(),
  model: text,
  milliseconds: z.number(),
  request: text.exactOptional(),
};

type Definition<Shape extends z.ZodRawShape> = { readonly version: number; readonly schema: z.ZodObject<Shape> };

/**
 * An event type: the version in which its events are written, and their fields. Fields may be
 * added; any other change raises the version.
 */
function event<Shape extends z.ZodRawShape>(version: number, shape: Shape): Definition<Shape> {
  return { version, schema: z.object(shape) };
}

/**
 * Every event type of a journal, defined once. Events are stored in this shape, and the journal
 * outlives upgrades, so it is decoded through this table where it is read (`readEvent`). A flow may
 * add event types, each a `FlowEvent`.
 */
export const eventTypes = {
  /**
   * A message of the user was accepted: the first event of every run, and one for every later
   * message.
   */
  "message-received": event(1, {
    messageId: text,
    parts,
    metadata,
  }),
  /**
   * The agent read a message: into the conversation, or as the answer to its question. `parts`: the
   * message as stored, if that differs from what was sent, with files under their names in the
   * workspace. `takenIn`, on a task's first message: what the caller had taken in.
   */
  "message-heard": event(1, {
    messageId: text,
    as: z.enum(["message", "answer"]),
    parts: parts.exactOptional(),
    takenIn: takenIn.exactOptional(),
  }),
  "step-started": event(1, { step: z.number(), maxSteps: z.number() }),
  /**
   * `discarded`: the usage of answers that broke off before this one and were retried.
   * `observation`: what the model was shown before it replied, such as the open page, with its
   * `images`.
   */
  "model-replied": event(1, {
    text,
    toolCalls: list(toolCall),
    ...modelCall,
    observation: observation.exactOptional(),
    images: list(storedFile).exactOptional(),
  }),
  /** A tool asked the model something during one of its calls. */
  "model-asked": event(1, { callId: text, ...modelCall }),
  /** `forTask`: what a person has allowed for the rest of the task, if that is why it is made. */
  "tool-started": event(1, { callId: text, name: text, arguments: text, forTask: text.exactOptional() }),
  /**
   * `takenIn`: what the result brought into the task, if that is not just the tool's name. `shows`:
   * what later results may show anew (`Shown`), for the conversation to be shortened.
   */
  "tool-ended": event(1, {
    callId: text,
    name: text,
    text,
    isError: z.boolean(),
    milliseconds: z.number(),
    images: list(storedFile).exactOptional(),
    takenIn: takenIn.exactOptional(),
    shows: shown.exactOptional(),
  }),
  /**
   * `summary` replaced older messages in what the model reads; the newest `kept` messages stayed,
   * and `pinned` of the user's messages before them. `usage` is that of the model call for the
   * summary, if it answered.
   */
  "context-compacted": event(1, {
    summary: text,
    kept: z.number(),
    pinned: z.number().exactOptional(),
    usage: usage.exactOptional(),
    discarded: usage.exactOptional(),
    request: text.exactOptional(),
  }),
  /**
   * The task was shown these entries of its principal's memory when it began; `takenIn` is what
   * they brought. `usage` is that of the embeddings by which they were looked for.
   */
  "memory-recalled": event(1, {
    entries: list(record({ id: text, kind: z.enum(memoryKinds), text })),
    takenIn,
    by: z.enum(["words", "meaning"]),
    usage: usage.exactOptional(),
  }),
  /**
   * Another agent is asked. An ask is open from this event, which is stored before anything is
   * sent, until its `agent-answered`, so the task at the other agent can be found again whatever
   * happens to the asking process. `askId` names the ask in this run's events and is the messageId
   * at the other agent; `agent` is the caller's name for it, `url` the address of its card, `text`
   * one short line and `parts` the whole message; `hops` counts the agents the task has passed
   * through, this one included.
   */
  "agent-asked": event(1, { ...ask, url: text, text, parts, contextId: text.exactOptional(), hops: z.number() }),
  /** The agent accepted the message as this task. */
  "agent-accepted": event(1, { ...ask, taskId: text, contextId: text }),
  /**
   * One short line about what the agent is doing, and what its task had used by then, if it reports
   * that; at most a hundred per ask. `call` names the tool it calls, `notice` the kind of the
   * notice it was given.
   */
  "agent-progressed": event(1, {
    ...ask,
    text,
    usedSoFar: taskUsage.exactOptional(),
    call: text.exactOptional(),
    notice: text.exactOptional(),
  }),
  /** What the agent's task has used so far, where no line has said it. */
  "agent-used": event(1, { ...ask, usedSoFar: taskUsage }),
  /**
   * How the task at the other agent ended: A2A's terminal state, or `timed-out` at the caller's
   * deadline. `left`: the task may still be running there; canceling it is retried later.
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
   * The run asks a person `question` and waits. `askId`: the ask through which another agent put
   * the question, and `from` the agent and its task. `approval`: the call that it asks about.
   */
  "question-asked": event(1, {
    question: text,
    kind: z.enum(["question", "approval", "authorization"]),
    askId: text.exactOptional(),
    from: record({ agent: text, taskId: text, contextId: text }).exactOptional(),
    approval: approval.exactOptional(),
  }),
  /**
   * Something the run noticed about itself: a repetition, a limit coming near, a truncated answer,
   * missing tools; or that it is waiting, and for how long.
   */
  "notice-given": event(1, {
    kind: z.enum(["stuck", "budget", "truncated", "tools", "waiting"]),
    text,
    pauseMs: z.number().exactOptional(),
  }),
  /**
   * A file the run made, or its final answer. The answer is the last artifact of a run, and the
   * only one named `answer`; `takenIn` on it is what the task had taken in when it gave it.
   * `metadata` is that of another agent's artifact that a flow passed on.
   */
  "artifact-added": event(1, {
    artifactId: text,
    name: text,
    description: text.exactOptional(),
    parts,
    takenIn: takenIn.exactOptional(),
    metadata,
  }),
  /** Written by the engine: the run stopped because of something that a person has to fix. */
  "run-paused": event(1, { error: record({ code: text.exactOptional(), message: text }).exactOptional() }),
  /** Written by the engine: a paused run resumes. */
  "run-resumed": event(1, {}),
  /**
   * Written by the engine: the last event of every run, appended in the transaction that ends it.
   */
  "run-ended": event(1, { status: z.enum(["completed", "failed", "canceled"]), error: fault.exactOptional() }),
} as const;

/** The name of an event type. */
export type EventType = keyof typeof eventTypes;

/** An event of this type. */
export type EventOf<Type extends EventType> = Type extends EventType
  ? { readonly type: Type } & (Type extends "run-resumed"
      ? unknown
      : Readonly<z.output<(typeof eventTypes)[Type]["schema"]>>)
  : never;

/** An event that any run may record; only a flow records others. */
export type JournalEvent = EventOf<EventType>;

/** The last event of every run. */
export type RunEnded = EventOf<"run-ended">;

/**
 * An event that a flow defines for itself: `type` is the flow's own noun-verb, `note` one line for
 * people, which every view shows unchanged, and `data` the rest. Some keys of `data` mean the same
 * in every flow: `outcome` (`completed`, `passed`, `failed`, `not_passed`, `blocked`, `canceled`)
 * is the result of the thing reported, `begun: true` says that it is starting, and `agent` names
 * the agent concerned.
 */
export type FlowEvent = {
  readonly type: string;
  readonly note: string;
  readonly data?: { readonly [key: string]: Json | undefined };
};

/** A `FlowEvent` as read; `of` is its type. */
export type ReadFlowEvent = { readonly type: "flow-told"; readonly of: string } & Required<Omit<FlowEvent, "type">>;

/** An event of a later version: views skip it, and it is passed on unchanged. */
export type UnknownEvent = { readonly type: "unknown"; readonly of: string };

/** An event of a journal as read. */
export type ReadEvent = JournalEvent | ReadFlowEvent | UnknownEvent;

/** Every type a reader of events may find; a view handles each. */
export const readTypes: readonly ReadEvent["type"][] = [
  ...(Object.keys(eventTypes) as EventType[]),
  "flow-told",
  "unknown",
];
