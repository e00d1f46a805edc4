import type { Run } from "../../core/runs/run.ts";
import { betweenMarks } from "../../core/text/sanitize.ts";
import type { RiskContext, Tool } from "../../core/tools/tool.ts";
import type { Workspaces } from "../../core/workspace.ts";
import type { AgentState } from "../task/agent-state.ts";
import type { PlannedCall } from "../task/loop.ts";
import { userWords } from "../task/user-words.ts";
import type { ReadCall } from "./plan-call.ts";
import { unjudged } from "./task-permission.ts";

/** What happens to a risky call: a person decides, it is made, or it is refused. */
export type RiskPolicy = "ask" | "allow" | "deny";

/** What happens to risky calls of this tool, where the settings say `policy`. */
export function riskPolicyFor(tool: Pick<Tool, "alwaysJudged"> | undefined, policy: RiskPolicy): RiskPolicy {
  return policy === "allow" && tool?.alwaysJudged === true ? "ask" : policy;
}

/** A risk for a model to read: what it quotes may be the words of a page. */
export function quotedRisk(risk: string): string {
  return betweenMarks("risk", "the call", risk);
}

/** What a model is told of a call that could not succeed. */
export function notPossible(why: string): string {
  return `Not made, since it could not succeed: ${why}`;
}

const judgeMs = 10_000;

type JudgedTask = Pick<AgentState, "messages" | "hops" | "said" | "given" | "takenIn"> & {
  readonly run: Pick<Run, "principal" | "contextId">;
};
/**
 * The risk of one call in its tool's words. A call that cannot be judged in time counts as risky;
 * only an abort rejects.
 */
export async function judgeRisk(
  { input }: ReadCall,
  tool: Tool | undefined,
  task: JudgedTask,
  deps: Workspaces,
  signal: AbortSignal,
  withinMs = judgeMs,
): Promise<string | undefined> {
  if (tool?.risk === undefined || !input.ok) return undefined;
  return judged((context) => tool.risk?.(input.value, context), unjudged(tool.name), { task, deps, signal, withinMs });
}

/**
 * The call as it is, or denied where it could not succeed: a person decides about no such call.
 * What cannot be told in time may succeed; only an abort rejects.
 */
export async function unlessImpossible<Call extends PlannedCall & ReadCall>(
  call: Call,
  tool: Tool | undefined,
  task: JudgedTask,
  deps: Workspaces,
  signal: AbortSignal,
): Promise<Call> {
  const { input, approval } = call;
  if (tool?.impossible === undefined || !input.ok || approval !== "ask") return call;
  const within = { task, deps, signal, withinMs: judgeMs };
  const impossible = await judged((context) => tool.impossible?.(input.value, context), undefined, within);
  return impossible === undefined ? call : { ...call, approval: "deny", impossible };
}

type Judging = {
  readonly task: JudgedTask;
  readonly deps: Workspaces;
  readonly signal: AbortSignal;
  readonly withinMs: number;
};

/** What a tool's code says of a call; `unknown` if it fails or does not say it in time. */
async function judged(
  judge: (context: RiskContext) => Promise<string | undefined> | undefined,
  unknown: string | undefined,
  { task, deps, signal, withinMs }: Judging,
): Promise<string | undefined> {
  const timer = AbortSignal.timeout(withinMs);
  const late = Promise.withResolvers<string | undefined>();
  timer.addEventListener("abort", () => late.resolve(unknown), { once: true });
  const both = AbortSignal.any([signal, timer]);
  try {
    const workspace = await deps.openWorkspace(task.run.principal, task.run.contextId);
    const context = { workspace, said: userWords(task), given: task.given, takenIn: [...task.takenIn], signal: both };
    return await Promise.race([judge(context), late.promise]);
  } catch {
    signal.throwIfAborted();
    return unknown;
  }
}
