import type { Limits } from "../../core/agent.ts";
import { AppError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import { sourcesOf } from "../../core/taken-in.ts";
import {
  failure,
  noWeb,
  type PersonAnswer,
  type Tool,
  type ToolContext,
  type ToolFetch,
  type ToolResult,
} from "../../core/tools/tool.ts";
import { withinSpan } from "../../core/trace.ts";
import type { ArtifactStore, Workspace, Workspaces } from "../../core/workspace.ts";
import { amongFiles, holdSources } from "../../machine/workspace/held-sources.ts";
import { answerInquiries, type PendingSpending } from "../model-call/answer-inquiries.ts";
import { timeLimit, workDeadline } from "../model-call/spending.ts";
import type { AgentState } from "../task/agent-state.ts";
import { boundText } from "../task/bound-text.ts";
import type { PlannedCall } from "../task/loop.ts";
import { collectMessages } from "../task/receive.ts";
import { checkedEnd } from "../task/unmade-files.ts";
import { bounded, type CalledTool, emitEnded, ended } from "./called-tool.ts";
import { durableContext } from "./durable-context.ts";
import { judgeRisk, quotedRisk, type RiskPolicy, riskPolicyFor } from "./judge-risk.ts";
import { type ReadCall, readCall } from "./plan-call.ts";

/** What tools need of the server they run in. */
export type ToolDeps = Workspaces & {
  readonly model: Model;
  readonly risky?: RiskPolicy;
  readonly artifacts: ArtifactStore;
  /** The `fetch` of tools; no web access if left out. */
  readonly fetch?: ToolFetch;
};

/** The tool whose call failed, and whether it only sets a part of what it acts on. */
export type FailedAct = { readonly name: string; readonly setsPart: boolean };

/** What the calls of one turn share. */
export type TurnOfCalls = {
  readonly task: AgentState;
  readonly tools: ReadonlyMap<string, Tool>;
  /**
   * Lists the tools that may change while the task runs; used inside steps. Left out if there are
   * none.
   */
  readonly more?: (within: Pick<StepContext, "signal" | "progress">) => Promise<readonly Tool[]>;
  /** What the calls in flight have spent together. */
  readonly pending: PendingSpending;
  /** What a call of the turn failed to act on. */
  readonly failed: ReadonlyMap<string, FailedAct>;
  /** How many calls the turn makes. */
  readonly calls: number;
};

/**
 * Makes one call in one durable step. Any failure becomes a result the model reads, even the death
 * of the process during a call that must not be repeated; only an abort rejects.
 */
export function callTool(
  run: Run,
  planned: PlannedCall,
  turn: TurnOfCalls,
  deps: ToolDeps,
  answer?: PersonAnswer,
): Promise<CalledTool> {
  return withinSpan([run.id, planned.id], () => makeCall(run, planned, turn, deps, answer));
}

async function makeCall(
  run: Run,
  planned: PlannedCall,
  turn: TurnOfCalls,
  deps: ToolDeps,
  answer: PersonAnswer | undefined,
): Promise<CalledTool> {
  const call = readCall(planned);
  const { id: callId, name, input } = call;
  if (answer === undefined) {
    const permitted = call.approval === "ask" && call.forTask !== undefined && turn.task.allowed.has(call.forTask);
    const forTask = permitted ? { forTask: call.forTask } : {};
    run.emit({ type: "tool-started", callId, name, arguments: call.arguments, ...forTask });
  }
  const tool = turn.tools.get(name);
  const brought = sourcesOf(tool ?? { name });
  const waits = call.way === "waiting" || call.way === "waiting-together";
  if (waits && isDurable(tool) && input.ok) return callDurably(run, call, [tool, input.value], turn, deps);
  // The effect of a tool that is not listed yet is unknown.
  const unknown = turn.more === undefined ? "pure" : "once";
  const effect = input.ok ? (tool?.effect(input.value) ?? unknown) : "pure";
  const failed = effect === "once" ? failedBefore(call, tool, turn, input) : undefined;
  try {
    return await run.step(
      stepName(name),
      async (step) => {
        const started = performance.now();
        const workspace = await deps.openWorkspace(run.principal, run.contextId);
        const inquiries = answerInquiries(callId, turn, deps.model, { ...step, principal: run.principal });
        const within = { workspace, step, deps, ask: inquiries.ask, ...(answer && { answer }) };
        const result = noticed(
          workspace,
          input.ok ? await resultOf(call, input.value, turn, { ...within, failed }) : notCalled(input.error),
        );
        const called = await bounded(
          { ...result, takenIn: result.takenIn ?? brought },
          { callId, name, workspace, turn, artifacts: deps.artifacts },
        );
        const { usage, asked } = inquiries;
        const milliseconds = Math.ceil(performance.now() - started);
        const outcome = { ...called, milliseconds, ...(usage.length > 0 && { usage, asked }) };
        if (outcome.asks === undefined) step.emit(ended(outcome));
        return outcome;
      },
      { effect },
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const text = error.code === "interrupted" ? interrupted : `${name} failed: ${error.message}`;
    return emitEnded(run, { callId, name, text, isError: true, milliseconds: 0, takenIn: brought });
  }
}

type DurableTool = Tool & Required<Pick<Tool, "callDurably">>;

function isDurable(tool: Tool | undefined): tool is DurableTool {
  return tool?.callDurably !== undefined;
}

/** Makes a call that waits, between steps: its tool records what it does by itself. */
async function callDurably(
  run: Run,
  { id: callId, name, way }: PlannedCall,
  [tool, input]: readonly [DurableTool, unknown],
  { task }: TurnOfCalls,
  deps: ToolDeps,
): Promise<CalledTool> {
  if (way === "waiting") await collectMessages(task);
  const result = await tool.callDurably(input, run, durableContext(run, task, deps));
  const { isError, end, takenIn = sourcesOf(tool) } = result;
  const text = await shortened(run, name, result.text, task.limits, deps);
  if (takenIn.length > 0)
    await holdSources(await deps.openWorkspace(run.principal, run.contextId), task.run.id, takenIn);
  return emitEnded(run, { callId, name, text, isError, milliseconds: 0, takenIn, ...(end && { end }) });
}

/** The result, after what the model has to know of the files. */
function noticed(workspace: Workspace, result: Awaited<ReturnType<typeof resultOf>>) {
  const notice = workspace.takeNotice?.();
  return notice === undefined ? result : { ...result, text: `${notice}\n\n${result.text}` };
}

/** The text of a durable call, shortened in a step if it is too long. */
async function shortened(run: Run, name: string, text: string, { resultCharacters }: Limits, deps: ToolDeps) {
  if (text.length <= resultCharacters) return text;
  return run.step("shorten", async () => {
    const workspace = await deps.openWorkspace(run.principal, run.contextId);
    return boundText(text, resultCharacters, (whole) => workspace.spill(`${name}.txt`, whole));
  });
}

/**
 * The step's name: made from the model's text, well-formed because replay compares it with the
 * stored name.
 */
function stepName(tool: string): string {
  return `tool ${tool.slice(0, 100)}`.toWellFormed();
}

const interrupted =
  "Interrupted: the server restarted while this call ran, and the call was not repeated. It may have done all, part or nothing of its work. Check before you do it again.";

/** The tool's result within the task's time, or why there is none. */
async function resultOf(
  call: PlannedCall & ReadCall,
  input: unknown,
  { task, tools, more }: TurnOfCalls,
  { workspace, step, deps, ask, answer, failed }: Within,
): Promise<ToolResult> {
  // Within the step, so that a run recorded before this was so is replayed as it went.
  if (failed !== undefined) return notCalled(notMade(failed));
  const deadline = workDeadline(task, step.signal);
  const { signal } = deadline;
  try {
    const others = tools.has(call.name) ? [] : ((await more?.({ signal, progress: step.progress })) ?? []);
    const tool = tools.get(call.name) ?? others.find(({ name }) => name === call.name);
    if (tool === undefined)
      return unknownTool(call.name, [...new Set([...tools.keys(), ...others.map(({ name }) => name)])]);
    const isJudged = riskPolicyFor(tool, deps.risky ?? "ask") !== "allow";
    const risk = isJudged ? await judgeRisk(call, tool, task, deps, signal) : undefined;
    if (risk !== undefined && risk !== call.risk) return failure(riskChanged(risk));
    const context: ToolContext = {
      signal,
      workspace,
      key: step.key,
      resultCharacters: task.limits.resultCharacters,
      vision: deps.model.capabilities.vision,
      progress: (text) => step.progress({ type: "tool-output", callId: call.id, text }),
      fetch: (...request) => (deps.fetch ?? noWeb)(signal, ...request),
      ask: (inquiry) => ask(inquiry, signal),
      ...(answer && { answer }),
      takenIn: [...task.takenIn],
    };
    const caller = { id: task.run.id, takenIn: task.takenIn };
    const result = await amongFiles(workspace, caller, [tool, input], () => tool.call(input, context));
    return await checkedEnd(call.name, result, task, workspace);
  } catch (error) {
    if (!deadline.passed()) throw error;
    return failure(`Stopped: ${timeLimit(task).message}`);
  }
}

/** An error result of a call that did not reach its tool: it brought nothing into the task. */
function notCalled(text: string): ToolResult {
  return { ...failure(text), takenIn: [] };
}

function unknownTool(name: string, known: readonly string[]): ToolResult {
  return notCalled(`There is no tool named ${JSON.stringify(name)}. The tools are: ${known.join(", ")}.`);
}

/** The tool of an earlier call of the turn that did not act on what this one acts on. */
function failedBefore(
  { deniedBefore = [] }: PlannedCall,
  tool: Tool | undefined,
  turn: TurnOfCalls,
  input: ReadCall["input"],
): string | undefined {
  const { actsOn } = tool ?? {};
  if (actsOn === undefined) return undefined;
  const before = turn.failed.get(actsOn);
  const isApart = before?.setsPart === true && input.ok && tool?.setsPart?.(input.value) === true;
  if (before !== undefined && !isApart) return before.name;
  return deniedBefore.find((name) => turn.tools.get(name)?.actsOn === actsOn);
}

function notMade(name: string): string {
  return `Not made: ${name}, before it in this turn, failed, so things are not as this call expected. Read why and look; then call again what is still right.`;
}

/** The call would now do something other than what was approved, or what needed no approval. */
function riskChanged(risk: string): string {
  return `Not done, since the call would now do something else than when you requested it:\n${quotedRisk(risk)}\nLook again; if you repeat the call, a person decides.`;
}

type Within = {
  readonly workspace: Workspace;
  readonly step: StepContext;
  readonly deps: ToolDeps;
  readonly ask: ReturnType<typeof answerInquiries>["ask"];
  readonly answer?: PersonAnswer;
  /** The tool whose call failed to act on the same thing before. */
  readonly failed: string | undefined;
};
