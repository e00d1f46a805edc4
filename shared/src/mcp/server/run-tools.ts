import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { RunView } from "../../runs/run-view.ts";

const runId = z.string().min(1).max(200).describe("The id of the run.");

/** The tools for runs that outlast a call, by name: their input and purpose. */
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

/** The name of a tool that works on runs. */
export type RunToolName = keyof typeof runTools;

/** Whether a tool works on runs; all others start one. */
export function isRunTool(name: string): name is RunToolName {
  return Object.hasOwn(runTools, name);
}

/** The run tools in MCP's form. */
export function runToolList(): Tool[] {
  return Object.entries(runTools).map(([name, { description, input, readOnly }]) => ({
    name,
    description,
    inputSchema: z.toJSONSchema(input, { io: "input" }) as Tool["inputSchema"],
    annotations: { readOnlyHint: readOnly, openWorldHint: false },
  }));
}

/**
 * A run as a tool's result: its answer or state as text, its files as links, and all of it as data.
 */
export function runResult(run: RunView): CallToolResult {
  const links = run.files.map(({ name, mediaType, size, url }) => ({
    type: "resource_link" as const,
    uri: url,
    name,
    mimeType: mediaType,
    size,
  }));
  return {
    content: [{ type: "text", text: wordsOf(run) }, ...links],
    structuredContent: { ...run },
    isError: run.status === "failed" || run.status === "canceled",
  };
}

function wordsOf({ id, status, answer, data, question, error, progress }: RunView): string {
  switch (status) {
    case "completed": {
      // A client may give its model only the text.
      const json = data === undefined ? "" : JSON.stringify(data);
      return [answer === json ? "" : (answer ?? ""), json].filter((text) => text !== "").join("\n\n") || "Done.";
    }
    case "failed":
    case "canceled":
      return [`The run ${id} ended as ${status}${error ? `: ${error.message} (${error.code})` : "."}`, answer ?? ""]
        .filter((line) => line !== "")
        .join("\n\n");
    case "input-required":
    case "auth-required":
      return `The run ${id} asks: ${question ?? ""}\n\nAnswer it with run_answer.`;
    case "paused":
      return `The run ${id} is paused: ${error?.message ?? "the cause is in its log"}`;
    default:
      return `The run ${id} goes on (${progress ?? status}). Look again with run_status.`;
  }
}
