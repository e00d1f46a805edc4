/** Calling an agent that speaks A2A. */
export { TaskState } from "@a2a-js/sdk";
export {
  type A2aClient,
  type A2aClientOptions,
  type CallOptions,
  createA2aClient,
  type NotificationAddress,
} from "../a2a/client/client.ts";
export type { Fetch } from "../a2a/client/client-fetch.ts";
export type { RetryPolicy } from "../a2a/client/client-retry.ts";
export type { OutgoingMessage } from "../a2a/client/outgoing-message.ts";
export { artifactParts, type JournalEntry, messageText, type TaskUpdate } from "../a2a/client/task-update.ts";
export { metadataKeys } from "../a2a/extensions.ts";
export type { HitlResponse } from "../a2a/hitl.ts";
export type { Progress } from "../core/events/progress.ts";
export type { AgentInput } from "../core/runs/task.ts";
export type { TaskUsage } from "../core/usage.ts";
