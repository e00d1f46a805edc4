import { type Engine, type RunRecord, terminalStatuses } from "../core/engine.ts";
import { AppError } from "../core/errors.ts";
import type { JournalEvent } from "../core/events.ts";
import type { Json } from "../core/json.ts";
import { messageSignal, type UserMessage } from "../core/message.ts";
import type { RunEvent } from "../core/run.ts";
import { type AgentInput, type FlowSettings, flowSettingsKey } from "../core/task.ts";
import { ownRun } from "./own-run.ts";
import type { ProjectionCache } from "./projection-cache.ts";

/** Where runs of one kind are accepted. */
export type Intake = {
  readonly engine: Engine;
  readonly kind: string;
  /**
   * What a first message sets for a flow. Throws an AppError for one that no run can begin with;
   * all are taken, and set nothing, when left out.
   */
  readonly admit?: ((message: UserMessage) => FlowSettings) | undefined;
};

/**
 * Accepts a run, whatever it came by: in the conversation `contextId` (empty for a new one), once
 * for each messageId of a principal. On disk when this resolves. Rejects with `conflict` for
 * another message under the same id, and `invalid_input` for another's conversation.
 */
export async function startRun(
  { engine, kind, admit }: Intake,
  input: Omit<AgentInput, "flow">,
  { contextId, principal }: { readonly contextId: string; readonly principal: string },
): Promise<RunRecord> {
  const flow = admit?.(input.message);
  if (contextId !== "") await requireOwnContext({ engine, kind }, contextId, principal);
  const { run } = await engine.start({
    kind,
    input: { ...input, ...(flow && { flow }) } satisfies Json,
    principal,
    contextId: contextId || crypto.randomUUID(),
    dedupe: {
      key: messageKey(kind, principal, input.message.messageId),
      hash: sha256(JSON.stringify([contextId, hashedForm(input.message)])),
    },
    events: [messageReceived(input.message)],
  });
  return run;
}

/**
 * The run a message began; where it has not come, a canceled one in its place, which is what the
 * sender gets should it come later. Only the sender's own: the same id from another principal is
 * another message.
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
 * Accepts a further message on a run, early or not; the same one again is harmless. `contextId` is
 * empty where the sender names none. Rejects as `ownRun` does, with `invalid_input` for the wrong
 * conversation, `conflict` for another message under its id, and `run_ended`.
 */
export async function continueRun(
  { engine, kind, projections }: Intake & { readonly projections: ProjectionCache },
  { id, contextId }: { readonly id: string; readonly contextId: string },
  message: UserMessage,
  principal: string,
): Promise<RunRecord> {
  const run = await ownRun(engine, id, { principal, kind });
  if (contextId !== "" && contextId !== run.contextId)
    throw new AppError("invalid_input", "is not the task's", { field: "contextId" });
  if (await isKnown(projections, run, message)) return run;
  if (terminalStatuses.includes(run.status))
    throw new AppError("run_ended", "The task has ended; send the message without a taskId to start another");
  const options = { id: message.messageId, events: [messageReceived(message)] };
  const outcome = await engine.deliver(run.id, messageSignal, message satisfies Json, options);
  const current = await ownRun(engine, run.id, { principal, kind });
  if (outcome === "duplicate") await isKnown(projections, current, message);
  return current;
}

function messageKey(kind: string, principal: string, messageId: string): string {
  return JSON.stringify([kind, principal, messageId]);
}

/** A context is a conversation with its files: only who began it may go on in it. */
async function requireOwnContext({ engine, kind }: Intake, contextId: string, principal: string): Promise<void> {
  const { runs } = await engine.list({ kind, contextId, limit: 1 });
  const newest = runs[0];
  if (newest === undefined || newest.principal === principal) return;
  throw new AppError("invalid_input", "cannot be used; leave it out to begin a new conversation", {
    field: "contextId",
  });
}

/**
 * Whether the run has this message already. Throws `conflict` when it has another one under its id.
 */
async function isKnown(projections: ProjectionCache, run: RunRecord, message: UserMessage): Promise<boolean> {
  const { history } = await projections.current(run);
  const entry = history.find(({ messageId }) => messageId === message.messageId);
  if (entry === undefined) return false;
  if (Bun.deepEquals([entry.parts, entry.metadata], [message.parts, message.metadata])) return true;
  throw new AppError("conflict", "This messageId was used before for another message");
}

function messageReceived(message: UserMessage): RunEvent {
  return { type: "message-received", ...message } satisfies JournalEvent;
}

/**
 * A first message as every version hashes it, so that one sent again after an upgrade is the same:
 * settings of a flow are a data part at its end.
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
