import type { CallDeps } from "./call-run.ts";
import type { DirectTools } from "./direct-tools.ts";
import { type Prompts, runnablePrompts } from "./prompts.ts";
import type { Era } from "./questions.ts";
import type { Resources } from "./resources.ts";

/** What an MCP server of ours is made of. */
export type McpServerDeps = CallDeps & {
  readonly version: string;
  /** Tools that are called as they are, beside the runnables; none when left out. */
  readonly tools?: DirectTools;
  /** Instead of the caller's runs and their files. */
  readonly resources?: Resources;
  /** Instead of one for each runnable. */
  readonly prompts?: Prompts;
  /** Whether clients are told of tools and prompts that come and go. */
  readonly listChanged?: boolean;
  readonly report: (bug: unknown) => void;
};

/** The prompts there are. */
export function promptsOf({ prompts, runnables }: McpServerDeps): Prompts {
  return prompts ?? runnablePrompts(runnables);
}

/** What answers a caller's requests. */
export type Serving = {
  readonly deps: McpServerDeps;
  readonly era: Era;
  readonly principal: string;
  readonly resources: Resources;
  readonly prompts: Prompts;
};
