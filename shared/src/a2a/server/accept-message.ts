import type { Message, SendMessageRequest } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type { RunRecord } from "../../core/engine.ts";
import type { UserMessage } from "../../core/message.ts";
import { continueRun, startRun } from "../../runs/accept-message.ts";
import type { ProtocolVersion } from "../version.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { acceptParts } from "./accept-parts.ts";
import type { TaskDeps } from "./task-access.ts";
import { taskOptions } from "./task-options.ts";

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
  const { contextId, taskId: id } = message;
  const run =
    id === ""
      ? await startRun(deps, { message: received, ...options }, { contextId, principal })
      : await continueRun(deps, { id, contextId }, received, principal);
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
