/** What you test an agent, a tool or a flow with: real parts, and a model that follows a script. */

export type { ArtifactStore } from "../core/workspace.ts";
export type { FlowLimits } from "../flow/flow-state.ts";
export type { ChatAnswer, ChatCall, ChatRequest, WireUsage } from "../models/chat/chat-protocol.ts";
export type { AnswerDelivery, ChatExchange } from "../models/chat/chat-server.ts";
export type { AgentServerForTest } from "../testing/a2a/agent-server.ts";
export { type FlowForTest, type FlowStart, flowEvents, flowForTest } from "../testing/flow.ts";
export {
  type ModelScript,
  type ScriptedModel,
  type ScriptedReply,
  startScriptedModel,
} from "../testing/models/scripted-model.ts";
export { type StartedAgent, startAgentForTest } from "../testing/server/start-agent.ts";
export { type TestedTask, type TestTask, testAgent } from "../testing/test-agent.ts";
export { contextForTest } from "../testing/tool-context.ts";
