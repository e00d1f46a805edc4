import * as z from "zod";
import { cancellingChildren } from "../a2a/ask/cancel-children.ts";
import { hasPrice } from "../agent/model-call/spending.ts";
import { AppError } from "../core/errors.ts";
import type { JournalEvent } from "../core/events/events.ts";
import type { Flow, FlowDefinition, FlowResult } from "../core/flow.ts";
import type { Json } from "../core/json.ts";
import { newestBody } from "../core/runs/bodies.ts";
import type { Run, RunBody, RunDefinition, StepContext } from "../core/runs/run.ts";
import type { AgentInput, AgentOutput } from "../core/runs/task.ts";
import { answerSchema } from "../core/tools/answer-schema.ts";
import { writtenObject } from "../models/arguments.ts";
import { chooseAgents } from "./choose-agents.ts";
import { createFlow, type FlowVerbDeps } from "./create-flow.ts";
import { earlierFlowTasks } from "./earlier.ts";
import { flowRequest } from "./flow-request.ts";
import { type FlowLimits, type FlowState, newState, type StartedFlow } from "./flow-state.ts";

/** What a flow needs of the process it runs in; `limits` replace the defaults. */
export type FlowDeps = FlowVerbDeps & { readonly limits?: Partial<FlowLimits> };

const defaultLimits: FlowLimits = { asks: 200, tokens: 10_000_000, usd: 50, wallMs: 24 * 60 * 60 * 1000 };

/**
 * A flow as a kind of durable run, with the same input, events and output as an agent's, so that
 * everything that serves an agent's task serves this too. However it ends, none of its tasks at
 * other agents stays open: have the engine work on `cancelChildrenRun` of its kind too, and cancel
 * by `engineCancellingChildren`.
 */
export function flowRun(definition: FlowDefinition, deps: FlowDeps): RunDefinition {
  const { name: kind, former = [] } = definition;
  const versionOf = (body: number): RunBody => ({
    body,
    execute: (run, input) => perform(definition, body, run, input as AgentInput, deps),
  });
  const bodies = { ...versionOf(newestBody(definition)), former: former.map(({ body }) => versionOf(body)) };
  return cancellingChildren({ kind, ...bodies }, deps.peers);
}

async function perform(
  definition: FlowDefinition,
  body: number,
  run: Run,
  input: AgentInput,
  deps: FlowDeps,
): Promise<AgentOutput> {
  const form = input.outputSchema && (answerSchema(input.outputSchema) as z.ZodType<Json | undefined>);
  const begun = await run.step("begin", (step) => begin(definition, body, run, input, deps, step), { effect: "pure" });
  run.emit({ type: "message-heard", messageId: input.message.messageId, as: "message" } satisfies JournalEvent);
  if (begun.unpriced !== null) run.emit(unheld(begun.limits.usd, begun.unpriced));
  const state = newState(begun, input);
  const flow = createFlow(run, state, deps);
  try {
    const given = await performOf(definition, begun.body ?? body)(flow, begun.options);
    const result = form === undefined ? given : await inForm(form, flow, given, state);
    const { answer, data } = result;
    const parts = data === undefined ? [] : [{ type: "data" as const, data }];
    flow.artifact("answer", [{ type: "text", text: answer }, ...parts]);
    return result;
  } catch (error) {
    if (error instanceof AppError && state.reached !== "") {
      flow.artifact("partial-answer", [{ type: "text", text: state.reached }]);
    }
    throw error;
  }
}

/**
 * The body of this version. Releases before runs had versions recorded that of a flow in its first
 * step alone.
 */
function performOf(definition: FlowDefinition, version: number): FlowDefinition["perform"] {
  const former = definition.former?.find(({ body }) => body === version);
  return former === undefined ? definition.perform : (flow, options) => former.perform(flow, options as never);
}

/** What the flow works from, recorded: the request, the agents and the limits. */
async function begin(
  definition: FlowDefinition,
  body: number,
  run: Run,
  input: AgentInput,
  { agents, model, limits, peers }: FlowDeps,
  step: StepContext,
): Promise<StartedFlow> {
  const { budget = {} } = input;
  const request = flowRequest(definition, input);
  const own = { ...defaultLimits, ...limits };
  return {
    ...request,
    earlier: await earlierFlowTasks(run, definition.name, peers.engine),
    ...(await chooseAgents(request.agents, agents, step.signal, definition.asks)),
    limits: {
      asks: own.asks,
      tokens: Math.min(own.tokens, budget.tokens ?? own.tokens),
      usd: Math.min(own.usd, budget.usd ?? own.usd),
      wallMs: Math.min(own.wallMs, budget.wallMs ?? own.wallMs),
    },
    contextWindow: model.capabilities.contextWindow,
    startedAt: step.now(),
    body,
    unpriced: budget.usd !== undefined && !hasPrice(model) ? model.name : null,
  };
}

function unheld(usd: number, model: string) {
  const text = `The spending limit of $${usd} cannot be enforced for this flow's own calls: the price of ${model} is not known. [llm.price] sets it.`;
  return { type: "notice-given", kind: "budget", text } satisfies JournalEvent;
}

/**
 * The result with data in the form that the caller wants: the agent's, the flow's own, the answer's
 * JSON, or data that the model extracts from the answer.
 */
async function inForm(
  schema: z.ZodType<Json | undefined>,
  flow: Flow,
  result: FlowResult,
  { answerData }: FlowState,
): Promise<FlowResult> {
  for (const given of [answerData, result.data, writtenObject(result.answer)]) {
    const fitting = schema.safeParse(given);
    if (fitting.success && fitting.data !== undefined) return { answer: result.answer, data: fitting.data };
  }
  const { data } = await flow.decide({
    name: "give_data",
    description: "Gives the answer in the form that was asked for.",
    instructions: "Put the answer below into the form of give_data. Use only what it says.",
    text: result.answer,
    // A call's arguments are an object; the wanted data may be something else.
    schema: z.object({ data: schema }),
  });
  return { answer: result.answer, ...(data !== undefined && { data }) };
}
