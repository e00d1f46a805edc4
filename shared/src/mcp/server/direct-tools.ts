import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/server";
import {
  judgeRisk,
  notPossible,
  quotedRisk,
  type RiskPolicy,
  riskPolicyFor,
  unlessImpossible,
} from "../../agent/act/judge-risk.ts";
import { type ApprovalPolicy, planCall, readCall } from "../../agent/act/plan-call.ts";
import { answerInquiries } from "../../agent/model-call/answer-inquiries.ts";
import { type Account, timeLimit, workDeadline } from "../../agent/model-call/spending.ts";
import { boundText } from "../../agent/task/bound-text.ts";
import type { AgentDefinition, Limits } from "../../core/agent.ts";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import type { Model, ToolCall } from "../../core/model.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { escapeUnseen } from "../../core/text/sanitize.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import {
  failure,
  type Inquiry,
  noWeb,
  type Tool,
  type ToolContext,
  type ToolFetch,
  type ToolResult,
} from "../../core/tools/tool.ts";
import { addUsage, noUsage, type TaskUsage, usageOfAnswers } from "../../core/usage.ts";
import type { Workspace, Workspaces } from "../../core/workspace.ts";
import { amongFiles, heldSources } from "../../machine/workspace/held-sources.ts";
import type { Quotas } from "../../runs/quotas.ts";
import type { ServedCall } from "./call-run.ts";
import { invalidParams } from "./invalid-params.ts";
import { type Asks, asksPeople, decision, type GivenAnswers, personsDecision } from "./questions.ts";

/** The same key as in A2A tasks. */
const usageKey = "manyhands/usage";

/** What calling an agent's tools without a run needs. */
export type DirectToolsDeps = Workspaces & {
  /** Counts what calls use for their principals. */
  readonly engine: Pick<Engine, "admit" | "spend">;
  readonly quotas: Pick<Quotas, "admit">;
  readonly definition: Pick<AgentDefinition, "name" | "tools" | "limits">;
  readonly model: Model;
  readonly approval: ApprovalPolicy;
  readonly risky: RiskPolicy;
  /** The web for tools; none if omitted. */
  readonly fetch?: ToolFetch;
};

/** The outcome of a call: its result, or what it needs first. */
export type DirectOutcome = { readonly result: CallToolResult } | Asks;

/** An agent's tools, callable without the agent. */
export interface DirectTools {
  list(): McpTool[];
  has(name: string): boolean;
  /**
   * Makes a call in the caller's workspace, through the same guards as a task's calls. `given`
   * accompanies a call that is repeated after it asked. Calls that change something run one after
   * another per workspace. Rejects with `quota_exceeded`, and like the tool, when the call is given
   * up.
   */
  call(name: string, input: unknown, call: ServedCall, given?: GivenAnswers): Promise<DirectOutcome>;
  /** The model usage of all calls since the start, which no journal records. */
  used(): TaskUsage;
}

/**
 * The tools that can be called outside a task: all but those that wait for a person or an agent,
 * and the one that ends a task.
 */
export function directTools(deps: DirectToolsDeps): DirectTools {
  const tools = deps.definition.tools.filter((tool) => tool.callDurably === undefined && tool.endsTask !== true);
  const inTurn = createKeyedQueue();
  let used = noUsage;
  const spend = async (principal: string, usage: TaskUsage) => {
    used = addUsage(used, usage);
    if (usage.tokens > 0 || usage.usd > 0) await deps.engine.spend(principal, usage);
  };
  return {
    list: () => tools.map(listed),
    has: (name) => tools.some((tool) => tool.name === name),
    async call(name, input, { principal, contextId = ownContext, ...call }, given = nothing) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) return asOutcome(failure(`There is no tool named ${JSON.stringify(name)}.`));
      const quota = await deps.quotas.admit({ principal });
      if (quota !== undefined) await deps.engine.admit({ principal, contextId, quota, starts: false });
      const workspace = await deps.openWorkspace(principal, contextId);
      const place = { principal, contextId, workspace };
      const make = () => guarded(tool, input, place, { deps, given, spend, ...call });
      const beside = tool.parallel ?? tool.effect(input) === "pure";
      return beside ? make() : inTurn(workspace.root, make);
    },
    used: () => used,
  };
}

/**
 * Who makes the calls, as far as what they take in goes: no run, and each as if it knew nothing.
 */
const caller = { id: "", takenIn: new Set<string>() };

/** The conversation of callers that name none. */
const ownContext = "mcp";

/** The `given` of a first call. */
const nothing: GivenAnswers = { responses: {}, state: undefined };

type CallPlace = { readonly principal: string; readonly contextId: string; readonly workspace: Workspace };
type Making = Pick<ServedCall, "signal" | "progress" | "client"> & {
  readonly deps: DirectToolsDeps;
  readonly given: GivenAnswers;
  readonly spend: (principal: string, usage: TaskUsage) => Promise<void>;
};

async function guarded(tool: Tool, input: unknown, place: CallPlace, making: Making): Promise<DirectOutcome> {
  const { deps, signal, given } = making;
  signal.throwIfAborted();
  const call = readCall({ id: crypto.randomUUID(), name: tool.name, arguments: JSON.stringify(input) });
  // No user's words are known here, so nothing the call names counts as said by the user.
  const takenIn = new Set(await heldSources(place.workspace));
  const unsaid = { run: place, messages: [], hops: 0, said: [], given: [], takenIn };
  const way = riskPolicyFor(tool, deps.risky);
  const risk = way === "allow" ? undefined : await judgeRisk(call, tool, unsaid, deps, signal);
  const known = risk === undefined ? undefined : { sentence: risk, way };
  const planned = planCall(call, tool, deps.approval, known);
  const { approval, impossible } = await unlessImpossible(planned, tool, unsaid, deps, signal);
  const why = risk === undefined ? "" : ` It would:\n${quotedRisk(risk)}`;
  if (impossible !== undefined) return asOutcome(failure(notPossible(impossible)));
  if (approval === "deny") return asOutcome(failure(`Not allowed by the configuration of this agent.${why}`));
  if (approval !== "ask") return made(tool, input, place, making);
  const code = codeOf(call.name, call.arguments, risk, place);
  if (given.state !== undefined && given.state !== code)
    throw invalidParams("The requestState is not that of this call.");
  const allowed = given.state === undefined ? undefined : personsDecision(given);
  if (allowed === undefined) return ask(call, risk, code, making);
  if (!allowed) return asOutcome(failure("The person did not allow the call; it was not made."));
  return made(tool, input, place, making);
}

function ask(call: ToolCall, risk: string | undefined, code: string, { client }: Making): DirectOutcome {
  const message = escapeUnseen(
    `Allow this call?\n\n${risk === undefined ? "" : `${risk}\n\n`}${call.name} ${call.arguments}`,
  );
  if (asksPeople(client)) return decision(message, code);
  const advice = "Give the agent the whole task instead: its run asks, and run_answer answers.";
  const would = risk === undefined ? "" : ` The call would:\n${quotedRisk(risk)}`;
  return asOutcome(
    failure(`Not done: a person has to decide about this call, and this client cannot ask one. ${advice}${would}`),
  );
}

async function made(tool: Tool, input: unknown, place: CallPlace, making: Making): Promise<DirectOutcome> {
  const { deps, spend } = making;
  const account = accountOf(deps.definition.limits, deps.model);
  const key = crypto.randomUUID();
  const pending = { tokens: 0, usd: 0 };
  const step = { emit: () => undefined, key, principal: place.principal };
  const inquiries = answerInquiries(key, { task: account, pending }, deps.model, step);
  const usage = () => inquiries.usage.reduce((sum, each) => addUsage(sum, usageOfAnswers({ usage: each })), noUsage);
  try {
    const result = await performed(tool, input, place, { ...making, account, key, ask: inquiries.ask });
    return asOutcome(result, inquiries.usage.length > 0 ? usage() : undefined);
  } finally {
    await spend(place.principal, usage());
  }
}

type Performing = Making & {
  readonly account: Account;
  readonly key: string;
  readonly ask: ReturnType<typeof answerInquiries>["ask"];
};

async function performed(
  tool: Tool,
  input: unknown,
  { workspace }: CallPlace,
  making: Performing,
): Promise<ToolResult> {
  const { deps, progress, account, key } = making;
  const { limits } = deps.definition;
  const { signal, passed } = workDeadline(account, making.signal);
  try {
    const ask = (inquiry: Inquiry) => making.ask(inquiry, signal);
    const context: ToolContext = {
      signal,
      workspace,
      key,
      resultCharacters: limits.resultCharacters,
      progress,
      ask,
      fetch: (...request) => (deps.fetch ?? noWeb)(signal, ...request),
    };
    const { keptAt, ...result } = await amongFiles(workspace, caller, [tool, input], () => tool.call(input, context));
    if (result.asks !== undefined)
      return failure(`${tool.name} wants a person's answer, which only a task of the agent can get.`);
    const spill = (whole: string) => workspace.spill(`${tool.name}.txt`, whole);
    const text = await boundText(result.text, limits.resultCharacters, keptAt === undefined ? spill : undefined);
    return { ...result, text };
  } catch (error) {
    if (!passed()) throw error;
    return failure(`Stopped: ${timeLimit(account).message}`);
  }
}

/** One call may use as much as a task. */
function accountOf(limits: Limits, { capabilities }: Model): Account {
  return {
    limits,
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
    contextWindow: capabilities.contextWindow,
  };
}

/**
 * A code unique to this call of this caller, so that an approval of another call does not match.
 */
function codeOf(name: string, input: string, risk: string | undefined, { principal, contextId }: CallPlace): string {
  const text = JSON.stringify([principal, contextId, name, input, risk ?? null]);
  return sha256Of(text);
}

/**
 * A tool in MCP's form, its schema unchanged. It has no annotations, because the effect depends on
 * the input; clients assume the worst.
 */
function listed({ name, description, inputSchema }: Tool): McpTool {
  return { name, description, inputSchema } as McpTool;
}

/** The result. If the model was asked, it includes the usage, since no run reports it. */
function asOutcome({ text, images = [], isError }: ToolResult, usage?: TaskUsage): DirectOutcome {
  const shown = images.map(({ data, mediaType }) => ({ type: "image" as const, data, mimeType: mediaType }));
  const content = [{ type: "text" as const, text }, ...shown];
  return { result: { content, isError, ...(usage && { _meta: { [usageKey]: usage } }) } };
}
