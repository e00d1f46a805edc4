import type { AgentDefinition, Limits } from "@manyhands/shared/agent/agent";
import { defineAgent } from "@manyhands/shared/agent/define-agent";
import type { Sandbox } from "@manyhands/shared/sandbox/sandbox";
import { applyPatchTool } from "@manyhands/shared/tools/code/apply-patch";
import { changesPatches } from "@manyhands/shared/tools/code/changes-patch";
import { createCheckpoints } from "@manyhands/shared/tools/code/checkpoints/checkpoint-store";
import { checkpointsTool } from "@manyhands/shared/tools/code/checkpoints/checkpoints-tool";
import { withCheckpoints } from "@manyhands/shared/tools/code/checkpoints/with-checkpoints";
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
import { instructions } from "./prompt.ts";

/** What the SWE agent is made of. `shell` are the tools that run code, none where no sandbox could be had. */
export type SweDeps = {
  readonly shell: readonly Tool[];
  readonly sandbox: Sandbox;
  readonly limits?: Partial<Limits>;
};

/** SWE, the agent that changes code: finds, edits, tests. */
export function swe({ shell, sandbox, limits }: SweDeps): AgentDefinition {
  const edits = createKeyedQueue();
  const checkpoints = createCheckpoints();
  const saved = (tool: Tool) => withCheckpoints(tool, checkpoints);
  const runsCode = shell.length > 0;
  return defineAgent({
    name: "swe",
    title: "SWE",
    description:
      "A software engineer: finds its way in the code it is sent, makes the smallest change that mends the cause, runs the tests where it can, and hands over the changed files and a patch.",
    version: "0.1.0",
    instructions,
    tools: [
      createPlanning(),
      ...shell.map(saved),
      saved(withDiagnostics(createStrReplaceEditor(edits), { sandbox, edited: editorPaths })),
      saved(unpackTool({ sandbox })),
      ...(runsCode ? [repoMapTool({ sandbox }), searchTool({ sandbox }), globTool({ sandbox })] : []),
      saved(withDiagnostics(applyPatchTool({ queue: edits }), { sandbox, edited: patchPaths })),
      ...(runsCode ? [saved(runTestsTool({ sandbox }))] : []),
      checkpointsTool(checkpoints),
      askHuman(),
      terminate,
    ],
    ...(limits && { limits }),
    async finish(workspace, { made }) {
      const patches = await changesPatches(workspace, made);
      return patches.map(({ folder, patch }) => ({
        name: patches.length === 1 || folder === "" ? "changes.patch" : `${folder.replaceAll("/", "-")}.patch`,
        mediaType: "text/x-diff",
        content: patch,
      }));
    },
    skills: [
      {
        id: "change-code",
        name: "Change code",
        description:
          "Edits the source files it was sent, by exact replacement or patch, several files at once or not at all, and returns the changed ones. Takes files and packed repositories, not addresses to clone.",
        tags: ["code", "editing", "patch"],
        examples: ["Add a --json switch to this script.", "Rename total() to sum_of() wherever it is used."],
      },
      ...(runsCode
        ? [
            {
              id: "fix-bug",
              name: "Fix a fault",
              description: "Reproduces a fault in a sandbox, finds its cause, mends it and shows that the tests pass.",
              tags: ["code", "debugging", "tests"],
              examples: ["The tests of this project fail. Find out why and fix the code."],
            },
          ]
        : []),
    ],
  });
}
