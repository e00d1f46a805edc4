import { type Engine, type RunRecord, terminalStatuses } from "../core/engine.ts";
import { AppError } from "../core/errors.ts";
import type { JournalEvent } from "../core/events.ts";
import type { Json } from "../core/json.ts";
import { messageSignal, type UserMessage } from "../core/message.ts";
import type { Quota } from "../core/quota.ts";
import type { RunEvent } from "../core/run.ts";
import { type AgentInput, type FlowSettings, flowSettingsKey } from "../core/task.ts";
import { ownRun } from "./own-run.ts";
import type { ProjectionCache } from "./projection-cache.ts";

/** What accepting runs of one kind needs. */
export type Intake = {
  readonly engine: Engine;
  readonly kind: string;
  /**
   * The flow settings of a first message. Throws an AppError if no run can start with it. If left
   * out, every message is accepted and sets nothing.
   */
  readonly admit?: ((message: UserMessage) => FlowSettings) | undefined;
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
 * Rejects with `quota_exceeded` for a message that its sender's quota leaves no room for, before
 * anything of it is stored: the first of a task, or one more of the task `id`. A message that the
 * task has already is let through.
 */
export async function admitMessage(
  { engine, kind, projections }: Intake & { readonly projections: ProjectionCache },
  { id, contextId, messageId }: { readonly id: string; readonly contextId: string; readonly messageId: string },
  { principal, dedupeMs, quota }: Sender,
): Promise<void> {
  if (quota === undefined) return;
  if (id === "") {
    const dedupe = { key: messageKey(kind, principal, messageId), ...windowOf(dedupeMs) };
    return engine.admit({ principal, contextId, dedupe, quota, starts: true });
  }
  const run = await engine.get(id, principal);
  const { history } = run === undefined ? { history: [] } : await projections.current(run);
  if (dedupeMs !== 0 && history.some((entry) => entry.messageId === messageId)) return;
  await engine.admit({ principal, contextId, quota, starts: false });
}

/**
 * Accepts a run, through whichever adapter it came: in the conversation `contextId` (empty for a
 * new one), once per messageId of a principal. It is on disk when this resolves. Conversations are
 * per principal: the same `contextId` from another principal is another conversation. Rejects with
 * `conflict` for a different message under the same id.
 */
export async function startRun(
  { engine, kind, admit }: Intake,
  input: Omit<AgentInput, "flow">,
  { contextId, principal, dedupeMs, quota }: Sender & { readonly contextId: string },
): Promise<RunRecord> {
  const flow = admit?.(input.message);
  const { run } = await engine.start({
    kind,
    input: { ...input, ...(flow && { flow }) } satisfies Json,
    principal,
    contextId: contextId || crypto.randomUUID(),
    dedupe: {
      key: messageKey(kind, principal, input.message.messageId),
      hash: sha256(JSON.stringify([contextId, hashedForm(input.message)])),
      ...windowOf(dedupeMs),
    },
    quota,
    events: [messageReceived(input.message)],
  });
  return run;
}

/**
 * The run that a message started. If the message has not arrived, creates a canceled run in its
 * place, which the sender gets if the message arrives later. Ids are per principal: the same id
 * from another principal is another message.
 */
export async function runOfMessage({ engine, kind }: Intake, messageId: string, principal: string): Promise<RunRecord> {
  const message: UserMessage = { messageId, parts: [] };
  const { run } = await engine.start({
    kind,
    input: { message, hops: 0 } satisfies AgentInput,
    principal,
    contextId: crypto.randomUUID(),
    dedupe: { key: messageKey(kind, principal, messageId) },
    events: [messageReceived(message)],
    canceled: true,
  });
  return run;
}

/**
 * Accepts a further message on a run, whether or not the run waits for it yet; repeating a message
 * is harmless, unless `dedupeMs` is 0. `contextId` is empty if the sender names none. Rejects as
 * `ownRun` does, with `invalid_input` for the wrong conversation, `conflict` for a different
 * message under the same id, and `run_ended`.
 */
export async function continueRun(
  { engine, kind, projections }: Intake & { readonly projections: ProjectionCache },
  { id, contextId }: { readonly id: string; readonly contextId: string },
  message: UserMessage,
  { principal, dedupeMs }: Sender,
): Promise<RunRecord> {
  const run = await ownRun(engine, id, { principal, kind });
  if (contextId !== "" && contextId !== run.contextId)
    throw new AppError("invalid_input", "is not the task's", { field: "contextId" });
  const isNew = dedupeMs === 0;
  if (!isNew && (await isKnown(projections, run, message))) return run;
  if (terminalStatuses.includes(run.status))
    throw new AppError("run_ended", "The task has ended; send the message without a taskId to start another");
  const options = { id: isNew ? crypto.randomUUID() : message.messageId, events: [messageReceived(message)] };
  const outcome = await engine.deliver(run.id, messageSignal, message satisfies Json, options);
  const current = await ownRun(engine, run.id, { principal, kind });
  if (outcome === "duplicate") await isKnown(projections, current, message);
  return current;
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

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
