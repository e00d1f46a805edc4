import type { Egress } from "@manyhands/shared/egress/egress";
import type { Sandbox } from "@manyhands/shared/sandbox/sandbox";
import { applyPatchTool } from "@manyhands/shared/tools/code/apply-patch";
import { createCheckpoints } from "@manyhands/shared/tools/code/checkpoints/checkpoint-store";
import { checkpointsTool } from "@manyhands/shared/tools/code/checkpoints/checkpoints-tool";
import { withCheckpoints } from "@manyhands/shared/tools/code/checkpoints/with-checkpoints";
import { cloneRepositoryTool } from "@manyhands/shared/tools/code/clone-repository";
import { editorPaths, patchPaths } from "@manyhands/shared/tools/code/diagnostics/edited-paths";
import { withDiagnostics } from "@manyhands/shared/tools/code/diagnostics/with-diagnostics";
import { globTool } from "@manyhands/shared/tools/code/glob";
import { repoMapTool } from "@manyhands/shared/tools/code/repo-map/repo-map";
import { runTestsTool } from "@manyhands/shared/tools/code/run-tests";
import { searchTool } from "@manyhands/shared/tools/code/search";
import { unpackTool } from "@manyhands/shared/tools/code/unpack";
import { createStrReplaceEditor } from "@manyhands/shared/tools/files/str-replace-editor";
import { askHuman } from "@manyhands/shared/tools/human/ask-human";
import { terminate } from "@manyhands/shared/tools/human/terminate";
import { createKeyedQueue } from "@manyhands/shared/tools/keyed-queue";
import { createPlanning } from "@manyhands/shared/tools/planning/planning";
import type { Tool } from "@manyhands/shared/tools/tool";

/** What the tools are made of. `shell` are those that run code, none where no sandbox could be had. */
export type SweDeps = {
  readonly shell: readonly Tool[];
  readonly sandbox: Sandbox;
  /** The way out for fetching repositories; undefined where the web is switched off. */
  readonly egress: Egress | undefined;
};

/** The tools of SWE. Before each call of one that may change files the state is saved; what an edit breaks is told in its result. */
export function sweTools({ shell, sandbox, egress }: SweDeps): readonly Tool[] {
  const edits = createKeyedQueue();
  const checkpoints = createCheckpoints();
  const saved = (tool: Tool) => withCheckpoints(tool, checkpoints);
  const checked = (tool: Tool, edited: (input: unknown) => string[]) =>
    saved(withDiagnostics(tool, { sandbox, edited }));
  const runsCode = shell.length > 0;
  return [
    createPlanning(),
    ...shell.map(saved),
    saved(unpackTool({ sandbox })),
    ...(egress === undefined ? [] : [saved(cloneRepositoryTool({ egress, sandbox }))]),
    ...(runsCode ? [repoMapTool({ sandbox }), searchTool({ sandbox }), globTool({ sandbox })] : []),
    checked(createStrReplaceEditor(edits), editorPaths),
    checked(applyPatchTool({ queue: edits }), patchPaths),
    ...(runsCode ? [saved(runTestsTool({ sandbox }))] : []),
    checkpointsTool(checkpoints),
    askHuman(),
    terminate,
  ];
}
