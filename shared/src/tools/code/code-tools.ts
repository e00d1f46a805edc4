import type { KeyedQueue } from "../../core/keyed-queue.ts";
import type { Tool } from "../../core/tool.ts";
import type { Egress } from "../../machine/egress/egress.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { createCheckpoints } from "./checkpoints/checkpoint-store.ts";
import { checkpointsTool } from "./checkpoints/checkpoints-tool.ts";
import { withCheckpoints } from "./checkpoints/with-checkpoints.ts";
import { cloneRepositoryTool } from "./clone-repository.ts";
import { withDiagnostics } from "./diagnostics/with-diagnostics.ts";
import { applyPatchTool } from "./patch/apply-patch.ts";
import { repoMapTool } from "./repo-map/repo-map.ts";
import { globTool } from "./search/glob.ts";
import { searchTool } from "./search/search.ts";
import { runTestsTool } from "./test-run/run-tests.ts";
import { unpackTool } from "./unpack.ts";

/** What the tools for code are made of. */
export type CodeToolsDeps = {
  readonly sandbox: Sandbox;
  /** Whether commands can be run in it. */
  readonly runsCode: boolean;
  /** The way out for fetching repositories; undefined where the web is switched off. */
  readonly egress: Egress | undefined;
  /** Keeps edits of one file apart. */
  readonly edits: KeyedQueue;
};

/** The tools for code, and what makes an agent's other tools part of them. */
export type CodeTools = {
  readonly tools: readonly Tool[];
  /**
   * The tool; where its calls may change files, with the workspace's state saved before and what an
   * edit broke told in its result.
   */
  over(tool: Tool): Tool;
};

/** Makes them. Every tool of the agent is to be put under `over`, theirs too. */
export function codeTools({ sandbox, runsCode, egress, edits }: CodeToolsDeps): CodeTools {
  const checkpoints = createCheckpoints();
  return {
    over(tool) {
      const { edits: edited } = tool;
      if (edited === undefined) return tool;
      return withCheckpoints(edited === true ? tool : withDiagnostics(tool, { sandbox, edited }), checkpoints);
    },
    tools: [
      unpackTool({ sandbox }),
      ...(egress === undefined ? [] : [cloneRepositoryTool({ egress, sandbox })]),
      ...(runsCode ? [repoMapTool({ sandbox }), searchTool({ sandbox }), globTool({ sandbox })] : []),
      applyPatchTool({ queue: edits }),
      ...(runsCode ? [runTestsTool({ sandbox })] : []),
      checkpointsTool(checkpoints),
    ],
  };
}
