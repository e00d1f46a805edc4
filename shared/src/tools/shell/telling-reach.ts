import type { Tool, ToolResult } from "../../core/tools/tool.ts";

/** What programs write that look for a module or a server which they do not get. */
const missed =
  /No module named|externally-managed-environment|Temporary failure in name resolution|Could not resolve host|\bEAI_AGAIN\b|\bENOTFOUND\b|Network is unreachable|Cannot find (?:module|package) '[^./]/;

/** What commands can reach: `told` stands in the tool's description. */
export type ReachText = { readonly told: string; readonly whenMissed: string };

/**
 * The tool with what its commands can reach in its description, and in the result of a call that
 * looked for more: otherwise a model tries one way after another to install what is missing.
 */
export function tellingReach(tool: Tool, { told, whenMissed }: ReachText): Tool {
  const reminded = (result: ToolResult): ToolResult =>
    missed.test(result.text) ? { ...result, text: `${result.text}\n[${whenMissed}]` } : result;
  return {
    ...tool,
    description: `${tool.description} ${told}`,
    call: async (input, context) => reminded(await tool.call(input, context)),
  };
}
