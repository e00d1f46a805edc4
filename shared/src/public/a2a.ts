/** Calling an agent that speaks A2A. */
export {
  type A2aClient,
  type A2aClientOptions,
  type CallOptions,
  createA2aClient,
  type OutgoingMessage,
} from "../a2a/client/client.ts";
export { artifactParts, messageText, type TaskUpdate } from "../a2a/client/task-update.ts";
export { metadataKeys } from "../a2a/extensions.ts";
