import type { AgentDefinition } from "../../core/agent.ts";
import type { Model, ModelMessage, ModelRequest, ToolCall, ToolSpec } from "../../core/model.ts";
import { marksAfter } from "../../core/runs/asked-request.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { ArtifactStore, Workspaces } from "../../core/workspace.ts";
import { estimateTokens } from "../../models/tokens.ts";
import { judgeRisk, type RiskPolicy, riskPolicyFor, unlessImpossible } from "../act/judge-risk.ts";
import { type ApprovalPolicy, planCall, readCall } from "../act/plan-call.ts";
import { neededIn, type ToolsNow, toolsNow } from "../act/tools-now.ts";
import { type Doubts, type RecordedReply, recordReply } from "../model-call/call-model.ts";
import { type ModelPauses, retryingStep } from "../model-call/retrying-step.ts";
import { roomForAnswer, spend } from "../model-call/spending.ts";
import { addMessage } from "../task/add-message.ts";
import type { AgentState, SeenObservation } from "../task/agent-state.ts";
import type { PlannedCall, Think } from "../task/loop.ts";
import { answerDoubts, doubtsAbout } from "./doubts.ts";
import { endingTool, toolChoiceNow, turnNotice, withinChoice } from "./last-turn.ts";
import { observe } from "./observe.ts";
import { promptOf } from "./prompt.ts";
import { extendModelMessages, toModelMessages } from "./to-model-messages.ts";
import { foldViews } from "./views.ts";

/** What thinking needs of the server it runs in. */
export type ThinkDeps = Workspaces & {
  readonly model: Model;
  readonly artifacts: ArtifactStore;
  /** Which calls a person must allow; none if left out. */
  readonly approval?: ApprovalPolicy;
  readonly risky?: RiskPolicy;
  /** Defaults to the usual pauses. */
  readonly modelPauses?: ModelPauses;
};

/**
 * Thinks by asking the model in one durable step: a recorded reply is never paid for again. Adds
 * what the model was shown and its reply to the task; text without calls is the answer. Hints go at
 * the end of this one prompt, so that everything before them stays byte-stable and provider caches
 * hit.
 */
export function askModel(agent: AgentDefinition, deps: ThinkDeps): Think {
  return async (task) => {
    const hint = agent.turnHint?.({ turn: task.turn, maxTurns: task.limits.steps });
    const notice = turnNotice(agent, task);
    const hints = [hint, ...task.hints, notice].filter((each) => each !== undefined);
    for (const name of neededIn(task.messages, agent.tools, task.called)) task.called.add(name);
    const toolChoice = toolChoiceNow(agent, task);
    const reply = await retryingStep(task.run, "model", waitingOf(task, deps), async (step) => {
      const { artifacts, model } = deps;
      const { vision } = model.capabilities;
      const seen = { vision, artifacts };
      const { callable, offered, missing } = await toolsNow(agent, task.run.principal, task, { ...step, vision });
      const observation = await seenNow(agent, task, deps, step.signal);
      const shown = observation === undefined ? [] : [observation];
      const { messages, saved } = foldViews(task, observation);
      const prompt = [...(await promptOf({ ...task, messages }, seen))];
      await extendModelMessages(prompt, shown, seen);
      const fresh = await toModelMessages([...task.messages.slice(task.measured.messages), ...shown], seen);
      const tail = tailMessage([...hints, ...missingHint(missing)]);
      const tailTokens = estimateTokens(tail, []);
      const fixed = fixedTokens(agent, offered, task.today);
      const inputTokens = task.measured.tokens - saved + estimateTokens(fresh, [], model.imageRule) + tailTokens;
      const request: ModelRequest = {
        messages: [systemMessage(agent, task.today), ...prompt, ...tail],
        stableMessages: prompt.length + 1,
        tools: offered.map((tool) => specIn(task, tool)),
        toolChoice,
        maxOutputTokens: roomForAnswer(task, inputTokens + fixed - task.fixedTokens, model),
      };
      const reply = await recordReply(task, request, model, step, {
        observation,
        principal: task.run.principal,
        last: task.asked,
      });
      const toolNames = toolChoice === "none" ? [] : offered.map(({ name }) => name);
      const open = () => deps.openWorkspace(task.run.principal, task.run.contextId);
      const doubts = await doubtsAbout(reply, task, { toolNames, openWorkspace: open });
      return {
        ...reply,
        ...(doubts && { doubts }),
        sightTokens: tailTokens,
        ...(fixed !== task.fixedTokens && { fixedTokens: fixed }),
        toolCalls: withinChoice(await planCalls(reply.toolCalls, callable, task, deps, step.signal), toolChoice),
      };
    });
    task.hints = [];
    takeReply(reply, task, toolChoice === "none" ? undefined : unended(agent));
    return reply.toolCalls;
  };
}

/** What the agent sees, as the conversation keeps it: with its images in the store. */
async function seenNow(
  agent: AgentDefinition,
  task: AgentState,
  deps: ThinkDeps,
  signal: AbortSignal,
): Promise<SeenObservation | undefined> {
  const observation = await observe(agent, task, deps, signal);
  if (observation === undefined) return undefined;
  const { images = [], ...rest } = observation;
  const stored = await Promise.all(
    (deps.model.capabilities.vision ? images : []).map(({ data, mediaType }, index) =>
      deps.artifacts.put(Buffer.from(data, "base64"), { name: `seen-${index + 1}`, mediaType }),
    ),
  );
  return { role: "observation", ...rest, ...(stored.length > 0 && { images: stored }) };
}

/** The hints of one prompt, after all that stays in the conversation. */
function tailMessage(hints: readonly string[]): ModelMessage[] {
  if (hints.length === 0) return [];
  return [{ role: "user", parts: hints.map((text) => ({ type: "text", text })) }];
}

/** Only names: the reason is for people, and may be in a server's own words. */
function missingHint(missing: ToolsNow["missing"]): string[] {
  if (missing.length === 0) return [];
  const names = missing.map(({ name }) => name).join(", ");
  return [
    `The tools of these MCP servers are unavailable now, but may return: ${names}. Say so if the task needs them.`,
  ];
}

async function planCalls(
  calls: readonly ToolCall[],
  tools: readonly Tool[],
  task: AgentState,
  deps: ThinkDeps,
  signal: AbortSignal,
): Promise<PlannedCall[]> {
  const { approval = () => "allow" as const, risky = "ask" } = deps;
  return Promise.all(
    calls.map(async (written) => {
      const call = readCall(written);
      const tool = tools.find(({ name }) => name === call.name);
      const way = riskPolicyFor(tool, risky);
      const risk = way === "allow" ? undefined : await judgeRisk(call, tool, task, deps, signal);
      const planned = planCall(call, tool, approval, risk === undefined ? undefined : { sentence: risk, way });
      return unlessImpossible(planned, tool, task, deps, signal);
    }),
  );
}

/** How a task waits for its model: within its time limit, which includes the wait. */
export function waitingOf(
  task: AgentState,
  { modelPauses }: Pick<ThinkDeps, "modelPauses">,
): Parameters<typeof retryingStep>[2] {
  return {
    pauses: modelPauses,
    // What the memory's embeddings used says nothing of the model.
    hasAnswered: task.spent.tokens > (task.recallTokens ?? 0),
    leftMs: () => task.limits.wallMs - task.spent.workMs,
    spent: (milliseconds) => {
      task.spent.workMs += milliseconds;
    },
  };
}

/** Estimated tokens of what every prompt of a task shares: the system text and the tools. */
export function fixedTokens(agent: AgentDefinition, tools: readonly Tool[], today: string): number {
  const system = estimateTokens([systemMessage(agent, today)], []);
  return tools.reduce((sum, tool) => sum + specOf(tool).tokens, system);
}

type KnownSpec = { readonly spec: ToolSpec; readonly tokens: number };

const known = new WeakMap<Tool, KnownSpec>();

/** Made once for each tool and description. */
function specOf(tool: Tool): KnownSpec {
  const { name, description, inputSchema } = tool;
  const found = known.get(tool);
  if (found?.spec.description === description) return found;
  const spec = { name, description, inputSchema };
  const made = { spec, tokens: estimateTokens([], [spec]) };
  known.set(tool, made);
  return made;
}

const specsOfTask = new WeakMap<AgentState, WeakMap<Tool, ToolSpec>>();

/**
 * A tool as this task's first prompt described it: a description that changes while the task works,
 * such as which agents can be asked, would lose what the provider has cached.
 */
function specIn(task: AgentState, tool: Tool): ToolSpec {
  const specs = specsOfTask.get(task) ?? new WeakMap<Tool, ToolSpec>();
  specsOfTask.set(task, specs);
  const spec = specs.get(tool) ?? specOf(tool).spec;
  specs.set(tool, spec);
  return spec;
}

const systems = new WeakMap<AgentDefinition, { readonly today: string; readonly message: ModelMessage }>();

/** Made once for each agent and day. */
function systemMessage(agent: AgentDefinition, today: string): ModelMessage {
  const found = systems.get(agent);
  if (found?.today === today) return found.message;
  const message = { role: "system", text: `${agent.instructions}\n\nToday is ${today}.` } as const;
  systems.set(agent, { today, message });
  return message;
}

const cutOff = {
  length: ["the output limit", "Say it again, shorter; put long content into a file with a tool."],
  "content-filter": ["the provider's content filter", "Say it another way, or say that it cannot be said."],
} as const;

/** What a text alone is answered with; undefined if it ends the task. */
function unended(agent: AgentDefinition): string | undefined {
  if (agent.toolChoice !== "required") return undefined;
  const how = endingTool(agent);
  const end = how === undefined ? "" : `; call \`${how}\` when you are done`;
  return `Text alone does not end this task. Call a tool${end}.`;
}

function takeReply(
  reply: RecordedReply & { readonly toolCalls: readonly PlannedCall[] },
  task: AgentState,
  ifTextAlone: string | undefined,
): void {
  const { text, toolCalls, usage, observation, images, carried, asked } = reply;
  // Runs of earlier versions recorded no requests.
  task.asked = asked && marksAfter(asked, task.asked);
  const seen = observation && ({ role: "observation", ...observation, ...(images && { images }) } as const);
  const folded = foldViews(task, seen);
  task.messages = folded.messages;
  Object.assign(task.views, folded.views);
  if (seen !== undefined) addMessage(task, seen);
  // Reasoning tokens count as output, and are not part of the next prompt.
  task.tailTokens = reply.sightTokens ?? 0;
  const tokens = Math.max(0, usage.inputTokens - task.tailTokens);
  task.measured = { tokens, messages: task.messages.length };
  task.fixedTokens = reply.fixedTokens ?? task.fixedTokens;
  task.messages.push({ role: "assistant", text, toolCalls, ...(carried && { carried }) });
  for (const { name } of toolCalls) task.called.add(name);
  spend(task, reply);
  if (toolCalls.length > 0) return;
  if (reply.finish === "length" || reply.finish === "content-filter") {
    const [by, advice] = cutOff[reply.finish];
    task.run.emit({ type: "notice-given", kind: "truncated", text: `The model's answer was cut off by ${by}.` });
    task.hints.push(`Your last message was cut off by ${by}. ${advice}`);
  } else if (reply.refused === true) {
    task.outcome = { status: "failure", summary: text };
  } else if (text.trim() === "") {
    task.hints.push("Your last message was empty. Call a tool, or answer in text when the task is done.");
  } else if (ifTextAlone !== undefined) {
    task.hints.push(ifTextAlone);
  } else {
    takeAnswer(text, reply.doubts, task);
  }
}

/** Takes a text as the task's answer, unless code can see that it cannot be one. */
function takeAnswer(text: string, doubts: Doubts | undefined, task: AgentState): void {
  const answer = doubts && answerDoubts(doubts, task);
  if (answer === undefined) task.outcome = { status: "success", summary: text };
  else if ("failure" in answer) task.outcome = { status: "failure", summary: answer.failure };
  else {
    task.doubted = true;
    task.hints.push(answer.hint);
    task.run.emit({ type: "notice-given", kind: "stuck", text: answer.hint });
  }
}
