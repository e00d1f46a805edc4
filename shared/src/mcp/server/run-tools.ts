import type { Tool } from "@modelcontextprotocol/server";
import * as z from "zod";

const runId = z.string().min(1).max(200).describe("The id of the run.");

/** The tools for runs that go on longer than a call, by name: what each takes and is for. */
export const runTools = {
  run_status: {
    description: "Shows a run as it stands: working, asking something, or ended with its answer and files.",
    input: z.strictObject({ run_id: runId }),
    readOnly: true,
  },
  run_answer: {
    description: "Answers the question of a run that asks one, and waits for what comes next.",
    input: z.strictObject({ run_id: runId, answer: z.string().min(1) }),
    readOnly: false,
  },
  run_cancel: {
    description: "Cancels a run and everything it has under way.",
    input: z.strictObject({ run_id: runId }),
    readOnly: false,
  },
} as const;

/** The name of one of them. */
export type RunToolName = keyof typeof runTools;

/** Whether a tool's name is one of them. */
export function isRunTool(name: string): name is RunToolName {
  return Object.hasOwn(runTools, name);
}

/** They as MCP tools. */
export function runToolList(): Tool[] {
  return Object.entries(runTools).map(([name, { description, input, readOnly }]) => ({
    name,
    description,
    inputSchema: z.toJSONSchema(input, { io: "input" }) as Tool["inputSchema"],
    annotations: { readOnlyHint: readOnly, openWorldHint: false },
  }));
}
