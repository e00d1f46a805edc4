import type { DurableContext, RiskContext, ToolContext } from "../core/tool.ts";
import type { Workspace } from "../core/workspace.ts";

/** A context in which nobody watches and nothing is aborted, unless told otherwise. For tests. */
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
 * What a risk is judged by in a task that has heard and taken in nothing, unless told otherwise.
 * For tests.
 */
export function riskContextForTest(workspace: Workspace, rest: Partial<RiskContext> = {}): RiskContext {
  return { workspace, said: [], given: [], takenIn: [], signal: AbortSignal.timeout(10_000), ...rest };
}

/**
 * A context of a call that waits, of a task that has passed through no agent, with a budget without
 * end. For tests.
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
