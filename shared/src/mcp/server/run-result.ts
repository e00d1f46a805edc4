import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RunView } from "../../runs/run-view.ts";

/** A run as the result of a tool: its answer or where it stands, its files as links, and all of it as data. */
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
      // A client may hand its model the text alone.
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
