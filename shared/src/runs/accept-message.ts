import { AppError } from "../core/errors.ts";
import type { JournalEvent } from "../core/events/events.ts";
import type { Json } from "../core/json.ts";
import {
  type IncomingMessage,
  type IncomingPart,
  messageSignal,
  type Part,
  type UserMessage,
} from "../core/message.ts";
import { type Engine, type RunRecord, terminalStatuses } from "../core/runs/engine.ts";
import type { Quota } from "../core/runs/quota.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { type AgentInput, type FlowSettings, flowSettingsKey } from "../core/runs/task.ts";
import { sentName } from "../core/text/inside-path.ts";
import { sha256Of } from "../core/text/sha256.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import { ownRun } from "./own-run.ts";
import { applyEvent, emptyProjection } from "./projection.ts";
import type { ProjectionCache } from "./projection-cache.ts";

/** What accepting runs of one kind needs. */
export type Intake = {
  readonly engine: Engine;
  readonly kind: string;
  readonly artifacts: ArtifactStore;
  /**
   * The flow settings of a first message. Throws an AppError if no run can start with it. If left
   * out, every message is accepted and sets nothing.
   */
  readonly admit?: ((message: UserMessage) => FlowSettings) | undefined;
  /** Where a run that was over at once is kept for those who read it then. */
  readonly projections?: ProjectionCache | undefined;
};

/** Who sends a message, and when its messageId stands for the message that had it before. */
export type Sender = {
  readonly principal: string;
  /**
   * Milliseconds within which the messageId of a first message is remembered, in the conversation
   * it was sent to; 0 takes every message as a new one. Left out, an id is one message for ever.
   */
  readonly dedupeMs?: number | undefined;
  /** What the sender is held to; nothing if left out. */
  readonly quota?: Quota | undefined;
};

/**
 * Accepts a run, through whichever adapter it came: in the conversation `contextId` (empty for a
 * new one), once per messageId of a principal. It and its files are on disk when this resolves; of
 * a message that is refused nothing is stored. Conversations are per principal: the same
 * `contextId` from another principal is another conversation. Rejects with `conflict` for a
 * different message under the same id, and with `quota_exceeded`.
 */
export async function startRun(
  { engine, kind, artifacts, admit, projections }: Intake,
  { message: incoming, ...input }: Omit<AgentInput, "flow" | "message"> & { readonly message: IncomingMessage },
  { contextId, principal, dedupeMs, quota }: Sender & { readonly contextId: string },
): Promise<RunRecord> {
  const { message, contents } = describeMessage(incoming, artifacts);
  const flow = admit?.(message);
  const dedupe = {
    key: messageKey(kind, principal, message.messageId),
    hash: sha256Of(JSON.stringify([contextId, hashedForm(message)])),
    ...windowOf(dedupeMs),
  };
  // `start` checks the same again, in the transaction that stores the run.
  if (contents.length > 0) await engine.admit({ principal, contextId, dedupe, quota: quota ?? {}, starts: true });
  await storeContents(contents, artifacts);
  const { run, ended } = await engine.start({
    kind,
    input: { ...input, message, ...(flow && { flow }) } satisfies Json,
    principal,
    contextId: contextId || Bun.randomUUIDv7(),
    dedupe,
    quota,
    events: [messageReceived(message)],
  });
  if (ended !== undefined) projections?.keep(run.id, ended.events.reduce(applyEvent, emptyProjection), ended.run);
  return run;
}

/** The run that a message started, if it has; whatever the message said. */
export async function findRunOfMessage(
  { engine, kind }: Pick<Intake, "engine" | "kind">,
  messageId: string,
  principal: string,
): Promise<RunRecord | undefined> {
  return engine.byKey(principal, messageKey(kind, principal, messageId));
}

/**
 * The run that a message started. If the message has not arrived, creates a canceled run in its
 * place, which the sender gets if the message arrives later. Ids are per principal: the same id
 * from another principal is another message.
 */
export async function runOfMessage(
  { engine, kind }: Pick<Intake, "engine" | "kind">,
  messageId: string,
  principal: string,
): Promise<RunRecord> {
  const message: UserMessage = { messageId, parts: [] };
  const { run } = await engine.start({
    kind,
    input: { message, hops: 0 } satisfies AgentInput,
    principal,
    contextId: Bun.randomUUIDv7(),
    dedupe: { key: messageKey(kind, principal, messageId) },
    events: [messageReceived(message)],
    canceled: true,
  });
  return run;
}

/** Where a further message goes. */
type Continued = {
  readonly id: string;
  readonly contextId: string;
  /**
   * The number of the event with the question that the message answers, if it answers one only;
   * `none` if it answers none.
   */
  readonly questionEvent?: number | "none" | undefined;
  /** What its caller calls it; a run if omitted. */
  readonly called?: "run" | "task";
};

/**
 * Accepts a further message on a run, whether or not the run waits for it yet; repeating a message
 * is harmless, unless `dedupeMs` is 0. `contextId` is empty if the sender names none. Of a message
 * that is refused nothing is stored. Rejects as `ownRun` does, with `invalid_input` for the wrong
 * conversation, `conflict` for a different message under the same id, for the answer to a question
 * that is not open, and for one to none while one is, `run_ended`, and `quota_exceeded`.
 */
export async function continueRun(
  { engine, kind, artifacts, projections }: Intake & { readonly projections: ProjectionCache },
  { id, contextId, questionEvent, called = "run" }: Continued,
  incoming: IncomingMessage,
  { principal, dedupeMs, quota }: Sender,
): Promise<RunRecord> {
  const run = await ownRun(engine, id, { principal, kind, called });
  if (contextId !== "" && contextId !== run.contextId)
    throw new AppError("invalid_input", `is not the ${called}'s`, { field: "contextId" });
  const { message, contents } = describeMessage(incoming, artifacts);
  const isNew = dedupeMs === 0;
  if (!isNew && (await isKnown(projections, run, message))) return run;
  if (terminalStatuses.includes(run.status))
    throw new AppError("run_ended", `The ${called} has ended; start another in its conversation, by its contextId`);
  if (quota !== undefined) await engine.admit({ principal, contextId, quota, starts: false });
  await storeContents(contents, artifacts);
  const options = { id: isNew ? crypto.randomUUID() : message.messageId, events: [messageReceived(message)] };
  const deliver = (ifLast?: number) =>
    engine.deliver(run.id, messageSignal, message satisfies Json, { ...options, ifLast });
  const outcome =
    questionEvent === undefined
      ? await deliver()
      : await deliverWhile(
          questionEvent,
          { projections, current: () => ownRun(engine, id, { principal, kind }) },
          deliver,
        );
  const current = await ownRun(engine, run.id, { principal, kind });
  if (outcome === "duplicate") await isKnown(projections, current, message);
  return current;
}

/** A run that tells so much that it is never still is waiting for no answer. */
const maxLooks = 20;

/**
 * Delivers a message while its question is the open one, or none is: what happens meanwhile is
 * looked at before it is tried again. Rejects with `conflict` when that is not, or no longer, so.
 */
async function deliverWhile(
  question: number | "none",
  run: { readonly projections: ProjectionCache; current(): Promise<RunRecord> },
  deliver: (ifLast?: number) => ReturnType<Engine["deliver"]>,
): ReturnType<Engine["deliver"]> {
  for (let look = 0; look < maxLooks; look++) {
    const { askedBy = "none", seq } = await run.projections.current(await run.current());
    if (askedBy !== question) throw notNow(question);
    const outcome = await deliver(seq);
    if (outcome !== "outdated") return outcome;
  }
  if (question === "none") return deliver();
  throw notNow(question);
}

function notNow(question: number | "none"): AppError {
  const why =
    question === "none"
      ? "A question is open, which this message is not meant to answer."
      : "That question is no longer open: it was answered, or given up.";
  return new AppError("conflict", `${why} Nothing was sent.`);
}

type IncomingFile = Extract<IncomingPart, { readonly type: "bytes" }>;

/** The message in the journal's form, and the files in it that have to be stored. */
function describeMessage({ messageId, parts, metadata }: IncomingMessage, artifacts: ArtifactStore) {
  const contents = parts.filter((part): part is IncomingFile => part.type === "bytes");
  const described = parts.map((part): Part => {
    if (part.type !== "bytes") return part;
    return { type: "file", ...artifacts.describe(part.bytes, aboutOf(part)), name: sentName(part.name) };
  });
  // Hashed in this order.
  const message: UserMessage = { messageId, parts: described, ...(metadata && { metadata }) };
  return { message, contents };
}

async function storeContents(contents: readonly IncomingFile[], artifacts: ArtifactStore): Promise<void> {
  for (const file of contents) await artifacts.put(file.bytes, aboutOf(file));
}

function aboutOf({ name, mediaType }: IncomingFile) {
  return { name, ...(mediaType !== undefined && { mediaType }) };
}

function windowOf(dedupeMs: number | undefined) {
  return dedupeMs === undefined ? {} : { withinMs: dedupeMs, perContext: true };
}

function messageKey(kind: string, principal: string, messageId: string): string {
  return JSON.stringify([kind, principal, messageId]);
}

/**
 * Whether the run already has this message. Throws `conflict` if it has a different one under the
 * same id.
 */
async function isKnown(projections: ProjectionCache, run: RunRecord, message: UserMessage): Promise<boolean> {
  const { history } = await projections.current(run);
  const entry = history.find(({ messageId }) => messageId === message.messageId);
  if (entry === undefined) return false;
  if (Bun.deepEquals([entry.parts, entry.metadata], [message.parts, message.metadata])) return true;
  throw new AppError("conflict", "This messageId was already used for another message");
}

function messageReceived(message: UserMessage): RunEvent {
  return { type: "message-received", ...message } satisfies JournalEvent;
}

/**
 * A first message in the form every version hashes, with flow settings as a last data part, so that
 * a message repeated after an upgrade has the same hash.
 */
function hashedForm(message: UserMessage): UserMessage {
  const { [flowSettingsKey]: data, ...metadata } = message.metadata ?? {};
  if (data === undefined) return message;
  const { messageId, parts } = message;
  const isBare = Object.keys(metadata).length === 0;
  return { messageId, parts: [...parts, { type: "data", data }], ...(!isBare && { metadata }) };
}
