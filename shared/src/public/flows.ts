/** What a flow is written with. */
export { type AgentEntry, agentText } from "../core/agents.ts";
export type { AskOutcome } from "../core/ask-outcome.ts";
export type { FlowEvent } from "../core/events.ts";
export {
  type AskMessage,
  type AskOptions,
  type Decision,
  defineFlow,
  type Excerpt,
  type Flow,
  type FlowDefinition,
  type FlowExample,
  type FlowResult,
} from "../core/flow.ts";
export { type FlowSettings, flowSettings } from "../core/flow-settings.ts";
export { outcomeText } from "../flow/ask.ts";
export { type AnswerForm, askInForm, type FormedAnswer } from "../flow/ask-in-form.ts";
export { cut, roomForEach } from "../flow/cut.ts";
export { isFinal } from "../flow/final-failure.ts";
export { agentByName, meantAgent } from "../flow/find-agent.ts";
export { createSlots, type Slots } from "../flow/slots.ts";
