import type { CallDeps } from "./call-run.ts";
import type { DirectTools } from "./direct-tools.ts";
import { type Prompts, runnablePrompts } from "./prompts.ts";
import type { Era } from "./questions.ts";
import type { Resources } from "./resources.ts";

/** What an MCP server needs. */
export type McpServerDeps = CallDeps & {
  readonly version: string;
  /** Tools called directly, besides the runnables; none if omitted. */
  readonly tools?: DirectTools;
  /** Defaults to the caller's runs and their files. */
  readonly resources?: Resources;
  /** Defaults to one prompt for each runnable. */
  readonly prompts?: Prompts;
  /** Whether clients are notified when tools and prompts come and go. */
  readonly listChanged?: boolean;
  readonly report: (bug: unknown) => void;
};

/** The prompts a server offers: its own, or one for each agent and flow. */
export function promptsOf({ prompts, runnables }: McpServerDeps): Prompts {
  return prompts ?? runnablePrompts(runnables);
}

/** What is needed to answer a caller's requests. */
export type Serving = {
  readonly deps: McpServerDeps;
  readonly era: Era;
  readonly principal: string;
  readonly resources: Resources;
  readonly prompts: Prompts;
};
