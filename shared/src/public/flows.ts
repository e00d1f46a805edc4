/** What you write a flow with. */
export { type AgentEntry, agentText } from "../core/agent.ts";
export { createSlots, type Slots } from "../core/async/slots.ts";
export { abortable } from "../core/async/within.ts";
export type { AskOutcome, AskState, Exchange, Fault, PeerCall, QuestionKind } from "../core/events/ask-outcome.ts";
export type { FlowEvent } from "../core/events/events.ts";
export {
  type AskMessage,
  type AskOptions,
  type Decision,
  defineFlow,
  type Excerpt,
  type Flow,
  type FlowBody,
  type FlowDefinition,
  type FlowExample,
  type FlowResult,
  type Writing,
} from "../core/flow.ts";
export { type AgentInput, type FlowSettings, flowSettings } from "../core/runs/task.ts";
export { namedFiles } from "../core/text/files-in-text.ts";
export type { TaskUsage } from "../core/usage.ts";
export { isFinal, outcomeText } from "../flow/ask.ts";
export { type AnswerForm, askInForm, type FormedAnswer } from "../flow/ask-in-form.ts";
export { cut, roomForEach } from "../flow/cut.ts";
export { agentByName, type FoundAgent, meantAgent } from "../flow/find-agent.ts";
