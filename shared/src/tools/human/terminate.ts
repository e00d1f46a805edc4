import * as z from "zod";
import { terminateName } from "../../core/agent.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";

/**
 * The tool with which an agent ends its task and reports the outcome. Without a summary the agent's
 * last words are its answer.
 */
export const terminate: Tool = defineTool({
  name: terminateName,
  description: "Ends the task: success if it is done and checked, failure if it cannot be done. Call it alone.",
  input: z.strictObject({
    status: z.enum(["success", "failure"]),
    summary: z.string().optional().describe("What the user reads. Default: your last words."),
  }),
  effect: "pure",
  brings: [],
  endsTask: true,
  // Runs in order: it must not end a task while earlier calls are still running.
  parallel: false,
  run: async ({ status, summary = "" }) => ({
    text: `The interaction has been completed with status: ${status}`,
    isError: false,
    end: { status, summary },
  }),
});
