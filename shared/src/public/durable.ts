/** Durable runs without agents: ordinary functions that outlive their process. */

export type { Conversations, FolderOf, HeldConversation } from "../core/conversations.ts";
export type { Log } from "../core/engine.ts";
export {
  type EndedRun,
  type Engine,
  type EngineHealth,
  type FollowItem,
  type Following,
  type ListFilter,
  type RunRecord,
  type RunStatus,
  type StartRequest,
  type StoredEvent,
  terminalStatuses,
} from "../core/engine.ts";
export type { JournalEvent, ReadEvent, ReadFlowEvent, UnknownEvent } from "../core/events.ts";
export type { Conversation, Deletion, DeletionRequest, ExpiredPage, Housekeeping } from "../core/housekeeping.ts";
export type { Quota, QuotaUse } from "../core/quota.ts";
export { readEvent } from "../core/read-event.ts";
export type { Effect, Run, RunBody, RunDefinition, RunEvent, StepContext } from "../core/run.ts";
export {
  createPostgresEngine,
  migratePostgres,
  type PostgresEngineOptions,
} from "../durable/postgres/postgres-engine.ts";
export type { RestateEndpointOptions } from "../durable/restate/restate-endpoint.ts";
export { createRestateEngine, type RestateEngineOptions } from "../durable/restate/restate-engine.ts";
export type { CrashPoint } from "../durable/sqlite/crash-point.ts";
export { createEmbeddedEngine, type EmbeddedEngineOptions } from "../durable/sqlite/embedded-engine.ts";
export type { SyncFile } from "../durable/sqlite/file-sync.ts";
export type { MachineClock } from "../durable/sqlite/machine-clock.ts";
