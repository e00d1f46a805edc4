import type { Workspace } from "../workspace/workspace.ts";
import type { ToolContext } from "./tool.ts";

/** A context in which nobody watches and nothing is aborted, unless told otherwise. For tests. */
export function contextForTest(workspace: Workspace, rest: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    workspace,
    key: crypto.randomUUID(),
    progress: () => undefined,
    ask: () => Promise.reject(new Error("No model is there to be asked.")),
    ...rest,
  };
}
