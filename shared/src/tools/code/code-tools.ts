import type { KeyedQueue } from "../../core/keyed-queue.ts";
import type { Tool } from "../../core/tool.ts";
import type { Egress } from "../../machine/egress/egress.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { createCheckpoints } from "./checkpoints/checkpoint-store.ts";
import { checkpointsTool } from "./checkpoints/checkpoints-tool.ts";
import { withCheckpoints } from "./checkpoints/with-checkpoints.ts";
import { cloneRepositoryTool } from "./clone-repository.ts";
import { editorPaths, patchPaths } from "./diagnostics/edited-paths.ts";
import { withDiagnostics } from "./diagnostics/with-diagnostics.ts";
import { globTool } from "./glob.ts";
import { repoMapTool } from "./repo-map/repo-map.ts";
import { runTestsTool } from "./run-tests.ts";
import { searchTool } from "./search.ts";
import { unpackTool } from "./unpack.ts";

/** What the tools for code are made of. */
export type CodeToolsDeps = {
  readonly sandbox: Sandbox;
  /** Whether commands can be run in it. */
  readonly runsCode: boolean;
  /** The way out for fetching repositories; undefined where the web is switched off. */
  readonly egress: Egress | undefined;
  /** The tool, its calls judged by where they send data. */
  guarded(tool: Tool): Tool;
  /** Keeps edits of one file apart. */
  readonly edits: KeyedQueue;
};

/** The tools for code, and what makes an agent's other tools part of them. */
export type CodeTools = {
  readonly tools: readonly Tool[];
  /** The tool, with the workspace's state saved before each call that may change files. */
  saved(tool: Tool): Tool;
  /** The editor, so saved, with what an edit broke told in its result. */
  checkedEditor(editor: Tool): Tool;
};

/** Makes them. Before each call of one that may change files the state is saved; what an edit breaks is told in its result. */
export function codeTools({ sandbox, runsCode, egress, guarded, edits }: CodeToolsDeps): CodeTools {
  const checkpoints = createCheckpoints();
  const saved = (tool: Tool) => withCheckpoints(tool, checkpoints);
  const checked = (tool: Tool, edited: (input: unknown) => string[]) =>
    saved(withDiagnostics(tool, { sandbox, edited }));
  return {
    saved,
    checkedEditor: (editor) => checked(editor, editorPaths),
    tools: [
      saved(unpackTool({ sandbox })),
      ...(egress === undefined ? [] : [saved(guarded(cloneRepositoryTool({ egress, sandbox })))]),
      ...(runsCode ? [repoMapTool({ sandbox }), searchTool({ sandbox }), globTool({ sandbox })] : []),
      checked(applyPatchTool({ queue: edits }), patchPaths),
      ...(runsCode ? [saved(runTestsTool({ sandbox }))] : []),
      checkpointsTool(checkpoints),
    ],
  };
}
