import type { StepContext } from "../durable/run.ts";
import { AppError } from "../errors.ts";
import type { Model, ModelReply, ModelRequest, ToolCall, ToolSpec } from "../llm/model.ts";
import { estimateTokens } from "../llm/tokens.ts";
import type { Tool } from "../tools/tool.ts";
import type { ArtifactStore, Workspace } from "../workspace/workspace.ts";
import type { AgentDefinition } from "./agent.ts";
import { judgeRisk, type RiskPolicy } from "./judge-risk.ts";
import { lookAround, sightTokensOf } from "./look-around.ts";
import { type ApprovalPolicy, type PlannedCall, planCall } from "./plan-call.ts";
import { promptTokens } from "./prompt-tokens.ts";
import type { Think } from "./react.ts";
import { type Account, roomForAnswer, spend, timeLimit, workDeadline } from "./spending.ts";
import type { TaskState } from "./task-state.ts";
import { toModelMessages } from "./to-model-messages.ts";
import { toolsNow } from "./tools-now.ts";

/** What thinking needs of the server it runs in. */
export type ThinkDeps = {
  readonly model: Model;
  readonly artifacts: ArtifactStore;
  /** Which calls a person has to allow; none when left out. */
  readonly approval?: ApprovalPolicy;
  readonly risky?: RiskPolicy;
  openWorkspace(principal: string, contextId: string): Promise<Workspace>;
};

/**
 * Thinks by asking the model, in one durable step: a reply that was recorded is never paid for again. Adds the reply to the task;
 * text without calls is the answer. Hints and what is seen now ride at the tail of this one prompt, so that everything before them stays byte-stable and
 * provider caches hit.
 */
export function askModel(agent: AgentDefinition, deps: ThinkDeps): Think {
  return async (task) => {
    const hint = agent.stepHint?.({ step: task.step, maxSteps: task.limits.steps });
    const hints = hint === undefined ? task.hints : [hint, ...task.hints];
    const reply = await task.run.step("model", async (step) => {
      const { callable, offered } = await toolsNow(agent, task.run.principal, task.messages, step.signal);
      const sight = await lookAround(agent, task, deps, step.signal);
      const sightTokens = sightTokensOf(sight);
      const { vision } = deps.model.capabilities;
      const prompt = await toModelMessages(task.messages, { hints, sight, vision, artifacts: deps.artifacts });
      const request: ModelRequest = {
        messages: [{ role: "system", text: systemText(agent, task.today) }, ...prompt],
        tools: toolSpecs(offered),
        toolChoice: agent.toolChoice,
        maxOutputTokens: roomForAnswer(task, promptTokens(task, sightTokens), deps.model),
      };
      const reply = await recordReply(task, request, deps.model, step);
      return { ...reply, sightTokens, toolCalls: await planCalls(reply.toolCalls, callable, task, deps, step.signal) };
    });
    task.hints = [];
    take(reply, task, agent.toolChoice);
    return reply.toolCalls;
  };
}

async function planCalls(
  calls: readonly ToolCall[],
  tools: readonly Tool[],
  task: TaskState,
  deps: ThinkDeps,
  signal: AbortSignal,
): Promise<PlannedCall[]> {
  const { approval = () => "allow" as const, risky = "ask" } = deps;
  return Promise.all(
    calls.map(async (call) => {
      const tool = tools.find(({ name }) => name === call.name);
      const risk = risky === "allow" ? undefined : await judgeRisk(call, tool, task, deps, signal);
      return planCall(call, tool, approval, risk === undefined ? undefined : { sentence: risk, way: risky });
    }),
  );
}

/** Tokens of what is the same in every prompt of a task: the system text and the tools. An estimate. */
export function fixedTokens(agent: AgentDefinition, tools: readonly Tool[], today: string): number {
  return estimateTokens([{ role: "system", text: systemText(agent, today) }], toolSpecs(tools));
}

function systemText({ instructions }: AgentDefinition, today: string): string {
  return `${instructions}\n\nToday is ${today}.`;
}

function toolSpecs(tools: readonly Tool[]): ToolSpec[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

/** What a model step leaves in the journal. */
export type RecordedReply = Pick<ModelReply, "text" | "toolCalls" | "finish" | "usage"> & {
  readonly milliseconds: number;
  /** Of the input, about, what was seen around it; none where nothing could be seen. */
  readonly sightTokens?: number;
};

/** Follows one call to its reply within the task's time, showing deltas to those who watch, and tells the reply as an event. */
export async function recordReply(
  task: Account,
  request: ModelRequest,
  model: Model,
  step: StepContext,
): Promise<RecordedReply> {
  const started = performance.now();
  const deadline = workDeadline(task, step.signal);
  try {
    let at = 0;
    for await (const event of model.ask(request, { signal: deadline.signal })) {
      if (event.type === "retry") {
        at = 0;
        step.progress({ type: "deltas-void", cause: event.cause });
      } else if (event.type === "text-delta") {
        step.progress({ ...event, at });
        at += event.text.length;
      } else if (event.type !== "reply") step.progress(event);
      else return tell(event.reply, Math.round(performance.now() - started), step);
    }
  } catch (error) {
    throw deadline.passed() ? timeLimit(task) : error;
  }
  throw new AppError("model_unavailable", "The model's answer ended without a reply.");
}

function tell(reply: ModelReply, milliseconds: number, step: StepContext): RecordedReply {
  const { text, toolCalls, finish, usage, model } = reply;
  step.emit({ type: "model-replied", text, toolCalls, usage, model, milliseconds });
  return { text, toolCalls, finish, usage, milliseconds };
}

const cutOff = {
  length: ["the output limit", "Say it again, shorter; put long content into a file with a tool."],
  "content-filter": ["the provider's content filter", "Say it another way, or say that it cannot be said."],
} as const;

function take(reply: RecordedReply, task: TaskState, toolChoice: AgentDefinition["toolChoice"]): void {
  const { text, toolCalls, usage } = reply;
  // What the model thought with is counted as output, and is no part of the next prompt.
  task.sightTokens = reply.sightTokens ?? 0;
  const tokens = Math.max(0, usage.inputTokens - task.sightTokens);
  task.measured = { tokens, messages: task.messages.length };
  task.messages.push({ role: "assistant", text, toolCalls });
  spend(task, usage, reply.milliseconds);
  if (toolCalls.length > 0) return;
  if (reply.finish === "length" || reply.finish === "content-filter") {
    const [by, advice] = cutOff[reply.finish];
    task.run.emit({ type: "notice-given", kind: "truncated", text: `The model's answer was cut off by ${by}.` });
    task.hints.push(`Your last message was cut off by ${by}. ${advice}`);
  } else if (text.trim() === "") {
    task.hints.push("Your last message was empty. Call a tool, or answer in text when the task is done.");
  } else if (toolChoice === "required") {
    task.hints.push("Text alone does not end this task. Call a tool; call `terminate` when you are done.");
  } else {
    task.outcome = { status: "success", summary: text };
  }
}
