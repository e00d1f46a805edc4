/** What you write an agent and its tools with. */
export { type AgentSpec, defineAgent } from "../agent/define-agent.ts";
export type {
  AgentDefinition,
  Limits,
  LookOptions,
  MoreTools,
  Skill,
  TaskChanges,
  ToldResult,
  ToolsListed,
} from "../core/agent.ts";
export { AppError, type ErrorCode } from "../core/errors.ts";
export type { Json } from "../core/json.ts";
export type { Metadata, Part, PeerArtifact, UserMessage } from "../core/message.ts";
export type { ImagePart, JsonSchema } from "../core/model.ts";
export type { Effect, Run, RunEvent, StepContext } from "../core/runs/run.ts";
export type { TakenIn } from "../core/taken-in.ts";
export { defineTool } from "../core/tools/define-tool.ts";
export type { DurableContext, SubBudget } from "../core/tools/durable-context.ts";
export type { Reach } from "../core/tools/reach.ts";
export type {
  Inquiry,
  Observation,
  PersonAnswer,
  RiskContext,
  Shown,
  Tool,
  ToolContext,
  ToolRequest,
  ToolResult,
} from "../core/tools/tool.ts";
export type { Trace } from "../core/trace.ts";
export type { StoredFile, Workspace } from "../core/workspace.ts";
export type { Agent, AgentSource, Offers } from "../server/agent-source.ts";
export { serveAgent } from "../server/serve-agent.ts";
export type { ToolFamily } from "../tools/family.ts";
