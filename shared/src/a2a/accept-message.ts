import type { Message, SendMessageRequest } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { AgentEvent } from "../agent/events.ts";
import type { AgentInput } from "../agent/task.ts";
import type { RunRecord } from "../durable/engine.ts";
import { terminalStatuses } from "../durable/engine.ts";
import type { RunEvent } from "../durable/run.ts";
import { AppError } from "../errors.ts";
import type { Json } from "../json.ts";
import { messageSignal, type UserMessage } from "../tools/human/user-message.ts";
import { acceptParts } from "./accept-parts.ts";
import { ownRun, type TaskDeps } from "./task-access.ts";
import { taskOptions } from "./task-options.ts";
import type { ProtocolVersion } from "./version.ts";
import { FieldViolationsError } from "./wire-error.ts";

const longestMetadata = 64 * 1024;

/**
 * Makes a message durable: as a new task, or as the next message of the task it names. When this resolves it is on disk. The
 * same message sent again by the same principal, at once or later, is the same task; its id with another content is refused.
 */
export async function acceptMessage(
  deps: TaskDeps,
  request: SendMessageRequest,
  { principal, wire }: { readonly principal: string; readonly wire: ProtocolVersion },
): Promise<RunRecord> {
  const { message, configuration, metadata } = request;
  if (message === undefined) throw new FieldViolationsError([{ field: "message", description: "is required" }]);
  const receiver = configuration?.taskPushNotificationConfig;
  if (receiver !== undefined && deps.receivers === undefined) throw new PushNotificationNotSupportedError();
  if (receiver !== undefined) await deps.receivers?.admit(receiver);
  const options = taskOptions(metadata);
  const received = await userMessage(deps, message);
  const run =
    message.taskId === ""
      ? await startTask(deps, { message: received, ...options }, message.contextId, principal)
      : await continueTask(deps, message, received, principal);
  // A crash in between leaves the sender without an answer, and the message sent again adds what is missing.
  if (receiver !== undefined) await deps.receivers?.add(run, receiver, wire);
  return run;
}

async function userMessage(deps: TaskDeps, message: Message): Promise<UserMessage> {
  const metadata = message.metadata as UserMessage["metadata"];
  if (JSON.stringify(metadata ?? null).length > longestMetadata) {
    throw new FieldViolationsError([{ field: "message.metadata", description: "is longer than 64 kB" }]);
  }
  const parts = await acceptParts(message.parts, deps.artifacts);
  return { messageId: message.messageId, parts, ...(metadata === undefined ? {} : { metadata }) };
}

/**
 * Accepts a task, whatever it came by: in the conversation `contextId` (empty for a new one), once for each messageId of a principal.
 * Rejects with `conflict` for another message under the same id, and FieldViolationsError for another's conversation.
 */
export async function startTask(
  { engine, agent, admit }: Pick<TaskDeps, "engine" | "agent" | "admit">,
  input: AgentInput,
  contextId: string,
  principal: string,
): Promise<RunRecord> {
  admit?.(input.message);
  if (contextId !== "") await requireOwnContext({ engine, agent }, contextId, principal);
  const { run } = await engine.start({
    kind: agent,
    input: input satisfies Json,
    principal,
    contextId: contextId || crypto.randomUUID(),
    dedupe: {
      key: messageKey(agent, principal, input.message.messageId),
      hash: sha256(JSON.stringify([contextId, input.message])),
    },
    events: [messageReceived(input.message)],
  });
  return run;
}

/**
 * The task a message began; where it has not come, a canceled one in its place, which is what the sender gets should it come later. Only the
 * sender's own: the same id from another principal is another message.
 */
export async function taskOfMessage(
  { engine, agent }: Pick<TaskDeps, "engine" | "agent">,
  messageId: string,
  principal: string,
): Promise<RunRecord> {
  const message: UserMessage = { messageId, parts: [] };
  const { run } = await engine.start({
    kind: agent,
    input: { message, hops: 0 } satisfies AgentInput,
    principal,
    contextId: crypto.randomUUID(),
    dedupe: { key: messageKey(agent, principal, messageId) },
    events: [messageReceived(message)],
    canceled: true,
  });
  return run;
}

function messageKey(agent: string, principal: string, messageId: string): string {
  return JSON.stringify([agent, principal, messageId]);
}

/** A context is a conversation with its files: only who began it may go on in it. */
async function requireOwnContext(
  deps: Pick<TaskDeps, "engine" | "agent">,
  contextId: string,
  principal: string,
): Promise<void> {
  const { runs } = await deps.engine.list({ kind: deps.agent, contextId, limit: 1 });
  const newest = runs[0];
  if (newest === undefined || newest.principal === principal) return;
  const description = "cannot be used; leave it out to begin a new conversation";
  throw new FieldViolationsError([{ field: "message.contextId", description }]);
}

/**
 * Accepts a further message on a task, early or not; the same one again is harmless. Rejects as `ownRun` does, with `conflict` for another
 * message under its id, and UnsupportedOperationError when the task has ended.
 */
export async function continueTask(
  deps: TaskDeps,
  message: Pick<Message, "taskId" | "contextId">,
  received: UserMessage,
  principal: string,
): Promise<RunRecord> {
  const run = await ownRun(deps, message.taskId, principal);
  if (message.contextId !== "" && message.contextId !== run.contextId) {
    throw new FieldViolationsError([{ field: "message.contextId", description: "is not the task's" }]);
  }
  if (await isKnown(deps, run, received)) return run;
  if (terminalStatuses.includes(run.status)) {
    throw new UnsupportedOperationError("The task has ended; send the message without a taskId to start another");
  }
  const options = { id: received.messageId, events: [messageReceived(received)] };
  const outcome = await deps.engine.deliver(run.id, messageSignal, received satisfies Json, options);
  const current = await ownRun(deps, run.id, principal);
  if (outcome === "duplicate") await isKnown(deps, current, received);
  return current;
}

/** Whether the task has this message already. Throws `conflict` when it has another one under its id. */
async function isKnown(deps: TaskDeps, run: RunRecord, received: UserMessage): Promise<boolean> {
  const { history } = await deps.folds.current(run);
  const entry = history.find(({ messageId }) => messageId === received.messageId);
  if (entry === undefined) return false;
  if (Bun.deepEquals([entry.parts, entry.metadata], [received.parts, received.metadata])) return true;
  throw new AppError("conflict", "This messageId was used before for another message");
}

function messageReceived(message: UserMessage): RunEvent {
  return { type: "message-received", ...message } satisfies AgentEvent;
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
