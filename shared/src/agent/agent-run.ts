import type { AgentDefinition, Limits } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import type { Recall } from "../core/memory.ts";
import type { Model } from "../core/model.ts";
import type { Engine } from "../core/runs/engine.ts";
import type { Run, RunDefinition, StepContext } from "../core/runs/run.ts";
import { isShutdown } from "../core/runs/shutdown.ts";
import { type AgentInput, type AgentOutput, takenInAtStart } from "../core/runs/task.ts";
import { failure, type Tool, type ToolFetch } from "../core/tools/tool.ts";
import type { ArtifactStore, Workspace, Workspaces } from "../core/workspace.ts";
import { heldSources } from "../machine/workspace/held-sources.ts";
import { listFiles } from "../machine/workspace/list-files.ts";
import { createChatCompletion } from "../tools/human/create-chat-completion.ts";
import { callTools, limitCalls } from "./act/call-tools.ts";
import type { RiskPolicy } from "./act/judge-risk.ts";
import type { ApprovalPolicy } from "./act/plan-call.ts";
import { rejectFalseSuccess } from "./act/reject-false-success.ts";
import { nothingYet, toolsNow } from "./act/tools-now.ts";
import { withApproval } from "./act/with-approval.ts";
import { agentBodies } from "./agent-bodies.ts";
import { conclude } from "./conclude.ts";
import { detectLoops } from "./detect-loops.ts";
import { earlierTasks, readEarlier, recalledMessages } from "./earlier.ts";
import type { ModelPauses } from "./model-call/retrying-step.ts";
import { hasPrice, spend, withinBudget } from "./model-call/spending.ts";
import { recallFor } from "./recall-for.ts";
import { releaseTools } from "./release-tools.ts";
import type { AgentState, TaskMessage } from "./task/agent-state.ts";
import { charactersFor } from "./task/bound-text.ts";
import { loop, react, type Turn } from "./task/loop.ts";
import { receive, receiveMessages } from "./task/receive.ts";
import { askModel, fixedTokens } from "./think/ask-model.ts";
import { fitWindow } from "./think/compaction.ts";
import { endingTool } from "./think/last-turn.ts";
import { withViews } from "./think/views.ts";

/** What an agent's tasks need of the server they run in. */
export type AgentDeps = Workspaces & {
  readonly model: Model;
  readonly engine: Pick<Engine, "list" | "events">;
  readonly artifacts: ArtifactStore;
  /** The web for tools; none when left out. */
  readonly fetch?: ToolFetch;
  /** Which calls a person must allow; none if left out. */
  readonly approval?: ApprovalPolicy;
  /** What happens to risky calls; defaults to `ask`. */
  readonly risky?: RiskPolicy;
  /** Finds what a task should know of its principal's memory; nobody has one if left out. */
  readonly recall?: Recall;
  /** How long to wait for a model that cannot answer now; defaults to 15 s, growing to 5 min. */
  readonly modelPauses?: ModelPauses;
};

/**
 * An agent as a kind of durable run: one task from its first message to its end. Completes with an
 * `AgentOutput`; fails with the AppError of the limit it reached, with `stuck`, or with
 * `task_failed` if the agent gave up.
 */
export function agentRun(agent: AgentDefinition, deps: AgentDeps): RunDefinition {
  return {
    kind: agent.name,
    body: agentBodies[0],
    async execute(run, input) {
      try {
        const task = input as AgentInput;
        return await perform(run, task, withOutputSchema(agent, task), openingOnce(deps));
      } finally {
        // A process that shuts down ends its tools' sessions itself, and later ones learn of a
        // restart.
        if (run.abortSignal.aborted && !isShutdown(run.abortSignal.reason)) await releaseTools(agent, run, deps);
      }
    },
  };
}

/** The same with each workspace opened once, not for each call. */
function openingOnce(deps: AgentDeps): AgentDeps {
  const opened = new Map<string, Promise<Workspace>>();
  return {
    ...deps,
    openWorkspace(principal, contextId) {
      const key = JSON.stringify([principal, contextId]);
      const opening = opened.get(key) ?? deps.openWorkspace(principal, contextId);
      opened.set(key, opening);
      opening.catch(() => opened.delete(key));
      return opening;
    },
  };
}

/** One turn of this agent: think and act, with their wrappers. */
function turn(agent: AgentDefinition, deps: AgentDeps): Turn {
  const think = withinBudget(fitWindow(askModel(agent, deps), { ...deps, tools: agent.tools }));
  const act = rejectFalseSuccess(limitCalls(withApproval(callTools(agent, deps))));
  return receiveMessages(detectLoops(react(think, act)), deps);
}

async function perform(run: Run, input: AgentInput, agent: AgentDefinition, deps: AgentDeps): Promise<AgentOutput> {
  const begun = await run.step("begin", (step) => begin(run, input, agent, deps, step));
  if (begun.boundless !== null) {
    const text = `The spending limit of $${begun.limits.usd} cannot be enforced: the price of ${begun.boundless} is not known. [llm.price] sets it.`;
    run.emit({ type: "notice-given", kind: "budget", text });
  }
  const task = await initialState(run, input, begun, deps);
  const ending = { ...deps, ...(agent.finish && { finish: agent.finish }) };
  try {
    // The value recorded at the task's start, whatever is configured later; older versions recorded
    // none.
    await loop(turn({ ...agent, toolChoice: begun.toolChoice ?? agent.toolChoice }, deps), task);
  } catch (error) {
    if (error instanceof AppError) await conclude(task, begun.files, error, ending);
    throw error;
  }
  return conclude(task, begun.files, undefined, ending);
}

/** The state of a task before its first turn: the conversation so far, and its own message. */
async function initialState(
  run: Run,
  input: AgentInput,
  begun: Awaited<ReturnType<typeof begin>>,
  deps: AgentDeps,
): Promise<AgentState> {
  const earlier = await readEarlier(begun.earlier, deps.engine);
  const received = new Map<string, string>();
  // Before the message, so that the provider's cache still has what came earlier.
  const recalled = begun.recalled === undefined ? [] : recalledMessages(begun.recalled);
  const takenIn = new Set([...earlier.takenIn, ...(begun.held ?? []), ...(begun.recalled?.takenIn ?? [])]);
  const goal = await receive(run, input.message, { received, takenIn }, deps, takenInAtStart(input));
  const { messages, views } = withViews([...earlier.messages, ...recalled, goal]);
  const task: AgentState = {
    run,
    limits: begun.limits,
    contextWindow: begun.contextWindow,
    fixedTokens: begun.fixedTokens,
    today: begun.today,
    messages,
    goal,
    called: calledIn(earlier.messages),
    pendingMessages: [],
    received,
    turn: 0,
    hints: [],
    measured: { tokens: begun.fixedTokens, messages: 0 },
    tailTokens: 0,
    views,
    prompt: { of: messages, count: 0, messages: [] },
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
    reserved: { tokens: 0, usd: 0 },
    hops: input.hops,
    said: input.said ?? [],
    given: input.given ?? [],
    takenIn,
    allowed: new Set(),
    recentTurns: [],
    callsMs: 0,
    doubted: false,
    outcome: undefined,
  };
  if (begun.recalled?.usage !== undefined) spend(task, { usage: begun.recalled.usage, milliseconds: 0 });
  task.recallTokens = task.spent.tokens;
  return task;
}

/** What a task takes from outside when it begins: recorded, so that it stays the same. */
async function begin(
  run: Run,
  input: AgentInput,
  agent: AgentDefinition,
  deps: AgentDeps,
  { signal, emit, progress }: StepContext,
) {
  const today = new Date().toISOString().slice(0, 10);
  const { offered, missing } = await toolsNow(agent, run.principal, nothingYet, {
    signal,
    progress,
    vision: deps.model.capabilities.vision,
  });
  for (const { name, reason } of missing)
    emit({
      type: "notice-given",
      kind: "tools",
      text: `The tools of the MCP server ${name} are unavailable: ${reason}`,
    });
  const earlier = await earlierTasks(run, agent.name, deps.engine);
  const recalled = await recallFor(run, input, earlier, deps, { signal, emit });
  const workspace = await deps.openWorkspace(run.principal, run.contextId);
  // Those of tasks that have not ended or are deleted are in no journal that is read here.
  const held = await heldSources(workspace, run.id);
  return {
    today,
    toolChoice: agent.toolChoice,
    limits: inWindow(tighter(agent.limits, input.budget ?? {}), deps.model),
    contextWindow: deps.model.capabilities.contextWindow,
    fixedTokens: checkedFixedTokens(agent, offered, today, deps.model),
    boundless: input.budget?.usd !== undefined && !hasPrice(deps.model) ? deps.model.name : null,
    earlier,
    ...(recalled && { recalled }),
    ...(held.length > 0 && { held }),
    files: await listFiles(workspace),
  };
}

function calledIn(messages: readonly TaskMessage[]): Set<string> {
  return new Set(messages.flatMap((message) => (message.role === "tool" ? [message.name] : [])));
}

/** The agent's own limits, or the caller's where they are tighter. */
function tighter(limits: Limits, budget: NonNullable<AgentInput["budget"]>): Limits {
  return {
    ...limits,
    steps: Math.min(limits.steps, budget.steps ?? limits.steps),
    tokens: Math.min(limits.tokens, budget.tokens ?? limits.tokens),
    usd: Math.min(limits.usd, budget.usd ?? limits.usd),
    wallMs: Math.min(limits.wallMs, budget.wallMs ?? limits.wallMs),
  };
}

/** What instructions and tools may take of a window: the rest is for the work. */
const maxFixedShare = 0.6;

/**
 * The tokens of instructions and tools. Throws `context_overflow` if no work would fit beside them.
 */
function checkedFixedTokens(agent: AgentDefinition, tools: readonly Tool[], today: string, model: Model): number {
  const { contextWindow } = model.capabilities;
  const fixed = fixedTokens(agent, tools, today);
  if (fixed <= contextWindow * maxFixedShare) return fixed;
  throw new AppError(
    "context_overflow",
    `The instructions and tools of ${agent.name} take about ${fixed} tokens, and the window of ${model.name} has ${contextWindow}. Start the model with a larger window and set context_window in [llm.capabilities], or give the agent fewer tools: \`profile\`, \`tools\` and \`mcp\` in [agents.${agent.name}].`,
  );
}

/** A result fills only a part of the model's window. */
function inWindow(limits: Limits, { capabilities }: Model): Limits {
  const { resultCharacters } = limits;
  return { ...limits, resultCharacters: Math.min(resultCharacters, charactersFor(capabilities.contextWindow)) };
}

/**
 * The agent for one task: if the task has an output schema, text alone does not end it, and a tool
 * takes the answer in that schema.
 */
function withOutputSchema(agent: AgentDefinition, { outputSchema }: AgentInput): AgentDefinition {
  if (outputSchema === undefined) return agent;
  const answer = createChatCompletion(outputSchema);
  const giveUp = endingTool(agent);
  const otherwise = giveUp === undefined ? "" : `, and use ${giveUp} only to give up`;
  return {
    ...agent,
    instructions: `${agent.instructions}\n\nThis task wants its answer in a fixed form: give it with ${answer.name}${otherwise}.`,
    tools: [...agent.tools.filter(({ name }) => name !== answer.name).map(withoutSuccess), answer],
    toolChoice: "required",
  };
}

/**
 * The tool, unable to end the task with success, since it cannot give an answer that fits the
 * schema.
 */
function withoutSuccess(tool: Tool): Tool {
  return {
    ...tool,
    async call(input, context) {
      const result = await tool.call(input, context);
      if (result.end?.status !== "success") return result;
      return failure("Not ended: this task wants its answer in a fixed form; give it with create_chat_completion.");
    },
  };
}
