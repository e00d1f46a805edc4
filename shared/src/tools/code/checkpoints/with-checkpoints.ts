import { messageOf } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";

const longestAbout = 80;

/** The tool, with the workspace's state saved before each call that may change it. */
export function withCheckpoints(tool: Tool, checkpoints: CheckpointStore): Tool {
  return {
    ...tool,
    async call(input, context) {
      const { workspace, key, signal } = context;
      signal.throwIfAborted();
      if (tool.effect(input) === "pure") return tool.call(input, context);
      const problem = await problemOf(
        checkpoints.take(workspace, { key, tool: tool.name, about: aboutOf(tool, input) }),
      );
      const result = await tool.call(input, context);
      if (problem === undefined) return result;
      return { ...result, text: `${result.text}\n[the state before this call could not be saved: ${problem}]` };
    },
  };
}

/** Work continues without a checkpoint, for example when the disk is full. */
async function problemOf(taking: Promise<void>): Promise<string | undefined> {
  try {
    await taking;
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The command and the path among the arguments, and what else the call edits, on one line. */
function aboutOf(tool: Tool, input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const named = ["command", "path", "url"].map((name) => Reflect.get(input, name));
  const edited = typeof tool.edits === "function" ? tool.edits(input) : [];
  const words = [...new Set([...named, ...edited])]
    .filter((value) => typeof value === "string")
    .join(" ")
    .replace(/\s+/g, " ");
  return words.length <= longestAbout ? words : `${words.slice(0, longestAbout)}…`;
}
