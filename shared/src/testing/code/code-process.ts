import type { Tool } from "../../core/tools/tool.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { contextForTest } from "../tool-context.ts";

/* Run as a process of its own: one call of a tool, with the home folder, the tool's name, the input as JSON and the call's key as arguments. */
const [home = "", name = "", input = "", key = ""] = process.argv.slice(2);
const workspace = await openWorkspace({ home, principal: "alice", contextId: "c1" });
const tool = await toolNamed(name);
await tool.call(JSON.parse(input), contextForTest(workspace, { key }));

/** Imports only the one tool, since many of these processes are started. */
async function toolNamed(name: string): Promise<Tool> {
  if (name === "apply_patch") {
    const { createKeyedQueue } = await import("../../core/async/keyed-queue.ts");
    return (await import("../../tools/code/patch/apply-patch.ts")).applyPatchTool({ queue: createKeyedQueue() });
  }
  if (name === "unpack") {
    const sandbox = {
      tier: "none",
      description: "",
      user: undefined,
      spawn: () => Promise.reject(new Error("no sandbox")),
      close: async () => {},
    } as const;
    return (await import("../../tools/code/unpack.ts")).unpackTool({ sandbox });
  }
  const { createCheckpointStore } = await import("../../tools/code/checkpoints/checkpoint-store.ts");
  return (await import("../../tools/code/checkpoints/checkpoints-tool.ts")).checkpointsTool(createCheckpointStore());
}
