import type { Run } from "../../core/runs/run.ts";
import { betweenMarks } from "../../core/text/sanitize.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { AgentState } from "../task/agent-state.ts";
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

const judgeMs = 10_000;

type JudgeDeps = { openWorkspace(principal: string, contextId: string): Promise<Workspace> };

/**
 * The risk of one call in its tool's words. A call that cannot be judged in time counts as risky;
 * only an abort rejects.
 */
export async function judgeRisk(
  { input }: ReadCall,
  tool: Tool | undefined,
  task: Pick<AgentState, "messages" | "hops" | "said" | "given" | "takenIn"> & {
    readonly run: Pick<Run, "principal" | "contextId">;
  },
  deps: JudgeDeps,
  signal: AbortSignal,
  withinMs = judgeMs,
): Promise<string | undefined> {
  if (tool?.risk === undefined || !input.ok) return undefined;
  const unknown = unjudged(tool.name);
  const timer = AbortSignal.timeout(withinMs);
  const late = Promise.withResolvers<string>();
  timer.addEventListener("abort", () => late.resolve(unknown), { once: true });
  const both = AbortSignal.any([signal, timer]);
  try {
    const workspace = await deps.openWorkspace(task.run.principal, task.run.contextId);
    const context = { workspace, said: userWords(task), given: task.given, takenIn: [...task.takenIn], signal: both };
    return await Promise.race([tool.risk(input.value, context), late.promise]);
  } catch {
    signal.throwIfAborted();
    return unknown;
  }
}
