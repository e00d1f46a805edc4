import type { KeyedQueue } from "../../core/async/keyed-queue.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { PolicedEgress } from "../../machine/egress/egress.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { createCheckpointStore } from "./checkpoints/checkpoint-store.ts";
import { checkpointsTool } from "./checkpoints/checkpoints-tool.ts";
import { withCheckpoints } from "./checkpoints/with-checkpoints.ts";
import { cloneRepositoryTool } from "./clone-repository.ts";
import { withDiagnostics } from "./diagnostics/with-diagnostics.ts";
import { pushBranchTool } from "./forge/push-branch.ts";
import { readIssueTool } from "./forge/read-issue.ts";
import { type GitHosts, noGitHosts } from "./git-host.ts";
import { languageServerTool } from "./language/language-server.ts";
import { applyPatchTool } from "./patch/apply-patch.ts";
import { repoMapTool } from "./repo-map/repo-map.ts";
import { globTool } from "./search/glob.ts";
import { searchTool } from "./search/search.ts";
import { runTestsTool } from "./test-run/run-tests.ts";

/** What the code tools need. */
export type CodeToolsDeps = {
  readonly sandbox: Sandbox;
  /** Whether the sandbox can run commands. */
  readonly runsCode: boolean;
  /** The egress for fetching repositories; undefined when the web is disabled. */
  readonly egress: PolicedEgress | undefined;
  /** Servers of repositories with a token; none by default. */
  readonly hosts?: GitHosts;
  /** Serialises edits of the same file. */
  readonly edits: KeyedQueue;
};

/** The code tools, and the wrapper that connects an agent's other tools to them. */
export type CodeTools = {
  readonly tools: readonly Tool[];
  /**
   * Wraps a tool: when its calls may change files, the workspace's state is saved before, and its
   * result reports what an edit broke.
   */
  over(tool: Tool): Tool;
};

/** Creates the code tools. Every tool of the agent must be wrapped with `over`, these included. */
export function codeTools({ sandbox, runsCode, egress, hosts = noGitHosts, edits }: CodeToolsDeps): CodeTools {
  const checkpoints = createCheckpointStore();
  return {
    over(tool) {
      const { edits: edited } = tool;
      if (edited === undefined) return tool;
      return withCheckpoints(edited === true ? tool : withDiagnostics(tool, { sandbox, edited }), checkpoints);
    },
    tools: [
      ...(egress === undefined ? [] : [cloneRepositoryTool({ egress, sandbox, hosts })]),
      ...(runsCode ? [repoMapTool({ sandbox }), searchTool({ sandbox }), globTool({ sandbox })] : []),
      applyPatchTool({ queue: edits }),
      ...(runsCode ? [runTestsTool({ sandbox }), languageServerTool({ sandbox })] : []),
      checkpointsTool(checkpoints),
      ...(egress !== undefined && hosts.any ? [readIssueTool({ egress, hosts })] : []),
      ...(egress !== undefined && hosts.any && runsCode ? [pushBranchTool({ egress, sandbox, hosts })] : []),
    ],
  };
}
