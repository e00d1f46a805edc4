/** Durable runs without agents: ordinary functions that outlive their process. */

export type { JournalEvent, ReadEvent, ReadFlowEvent, UnknownEvent } from "../core/events/events.ts";
export { readEvent } from "../core/events/read-event.ts";
export type { Conversations, FolderOf, HeldConversation } from "../core/runs/conversations.ts";
export type { Log } from "../core/runs/engine.ts";
export {
  type EndedRun,
  type Engine,
  type EngineHealth,
  type FollowItem,
  type Following,
  type FollowPlace,
  type ListFilter,
  type RunRecord,
  type RunStatus,
  type StartRequest,
  type StoredEvent,
  terminalStatuses,
} from "../core/runs/engine.ts";
export type { Conversation, Deletion, DeletionRequest, ExpiredPage, Housekeeping } from "../core/runs/housekeeping.ts";
export type { Quota, QuotaUse } from "../core/runs/quota.ts";
export type { Effect, Run, RunBody, RunDefinition, RunEvent, StepContext } from "../core/runs/run.ts";
export {
  createPostgresEngine,
  migratePostgres,
  type PostgresEngineOptions,
} from "../durable/postgres/postgres-engine.ts";
export type { RestateEndpointOptions } from "../durable/restate/restate-endpoint.ts";
export { createRestateEngine, type RestateEngineOptions } from "../durable/restate/restate-engine.ts";
export type { CrashPoint } from "../durable/sqlite/disk/crash-point.ts";
export type { SyncFile } from "../durable/sqlite/disk/file-sync.ts";
export { createEmbeddedEngine, type EmbeddedEngineOptions } from "../durable/sqlite/embedded-engine.ts";
export type { MachineClock } from "../durable/sqlite/machine-clock.ts";
