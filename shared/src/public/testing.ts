/**
 * What an agent, a tool or a flow is tested with: real parts, and a model that says what the test
 * tells it to.
 */
export { flowForTest, told } from "../testing/flow.ts";
export { type ScriptedModel, startScriptedModel } from "../testing/scripted-model.ts";
export { type StartedAgent, startAgentForTest } from "../testing/start-agent.ts";
export { type TestedTask, type TestTask, testAgent } from "../testing/test-agent.ts";
export { contextForTest } from "../testing/tool-context.ts";
