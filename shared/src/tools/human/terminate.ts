import * as z from "zod";
import { defineTool, type Tool } from "../tool.ts";

/** The tool by which an agent ends its task and says how it went. Without a summary the agent's last words are its answer. */
export const terminate: Tool = defineTool({
  name: "terminate",
  description:
    "Terminate the interaction when the request is met OR if the assistant cannot proceed further with the task.\n" +
    "When you have finished all the tasks, call this tool to end the work.",
  input: z.strictObject({
    status: z.enum(["success", "failure"]).describe("The finish status of the interaction."),
    summary: z
      .string()
      .optional()
      .describe("The final answer for the user: what was achieved, or why it could not be. Markdown."),
  }),
  effect: "pure",
  run: async ({ status, summary = "" }) => ({
    text: `The interaction has been completed with status: ${status}`,
    isError: false,
    end: { status, summary },
  }),
});
