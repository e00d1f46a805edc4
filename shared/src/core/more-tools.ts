import type { Tool } from "./tool.ts";
import type { Workspace } from "./workspace.ts";

/** A result of a tool as the model read it. */
export type ToldResult = { readonly name: string; readonly text: string };

/** Tools, and the sources that none can be had of: by name, with the reason for people. */
export type ToolsListed = {
  readonly tools: readonly Tool[];
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
};

/** Tools whose set may change while a task runs, such as those of other servers. Their calls are recorded like any, so replay never asks here. */
export interface MoreTools {
  /**
   * What can be called now by this principal, and whose tools are not there. Waits, for a bounded time, for those that were never heard of, and tells so;
   * rejects only with the signal's reason.
   */
  list(principal: string, signal: AbortSignal, tell?: (waiting: string) => void): Promise<ToolsListed>;
  /** Of those, what the model is told of, by what it has read in this task: where there are too many, what it found among them. */
  offer(tools: readonly Tool[], told: readonly ToldResult[]): readonly Tool[];
  /** Whether a tool of this name may be among them at some time. */
  mayHave(name: string): boolean;
  /** Ends what is kept for this conversation between calls. */
  release(workspace: Workspace): Promise<void>;
}
