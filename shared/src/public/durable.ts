/** Durable runs without agents: ordinary functions that outlive their process. */

export type { Log } from "../core/engine.ts";
export {
  type Engine,
  type EngineHealth,
  type FollowItem,
  type ListFilter,
  type RunRecord,
  type RunStatus,
  type StartRequest,
  type StoredEvent,
  terminalStatuses,
} from "../core/engine.ts";
export { type EventOf, eventTypes, type ReadEvent, readEvent } from "../core/events.ts";
export type { Effect, Run, RunDefinition, RunEvent, StepContext } from "../core/run.ts";
export { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
