import type { DurableContext } from "../core/tools/durable-context.ts";
import type { RiskContext, ToolContext } from "../core/tools/tool.ts";
import type { Workspace } from "../core/workspace.ts";

/**
 * A tool's context for tests: without progress, web, model or abort, unless `rest` provides them.
 */
export function contextForTest(workspace: Workspace, rest: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    workspace,
    key: crypto.randomUUID(),
    resultCharacters: 12_000,
    progress: () => undefined,
    fetch: () => Promise.reject(new Error("No web is there.")),
    ask: () => Promise.reject(new Error("No model is there to be asked.")),
    ...rest,
  };
}

/**
 * A risk's context for tests: a task without messages and without external content, unless `rest`
 * says otherwise.
 */
export function riskContextForTest(workspace: Workspace, rest: Partial<RiskContext> = {}): RiskContext {
  return { workspace, said: [], given: [], takenIn: [], signal: AbortSignal.timeout(60_000), ...rest };
}

/**
 * A waiting call's context for tests: a task that came from no other agent, with a large budget.
 */
export function durableContextForTest(rest: Partial<DurableContext> = {}): DurableContext {
  return {
    hops: 0,
    answerMs: undefined,
    said: [],
    takenIn: [],
    place: async (parts) => parts,
    adopt: async (parts) => parts,
    attach: async () => [],
    receiveMessages: () => undefined,
    subBudget: () => ({ budget: { tokens: 1_000_000, usd: 1, wallMs: 60_000 }, release: () => undefined }),
    ...rest,
  };
}
