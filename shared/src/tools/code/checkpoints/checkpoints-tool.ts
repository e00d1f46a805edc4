import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { firstOf } from "../../../core/text/counted.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { keptContent } from "../../../machine/workspace/kept-content.ts";
import { workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import { changesPatches } from "./changes-patch.ts";
import { type Checkpoint, differences, type FileDifference } from "./checkpoint.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { fileDiff, leftOutText, newDiffRoom } from "./file-diff.ts";
import { putBackProjects, setAsideProjects } from "./projects-aside.ts";
import { restore } from "./restore.ts";

const description = `The states of the workspace before each call that changed it.
- list: the calls that changed files, newest last, each with the id of the state before it.
- diff: from the state with that id to now; without id, from the files as sent to now, which is what is handed over as changes.patch.
- restore: returns all files, or those at path, to the state with that id. Another restore undoes it.
Not covered: .git, node_modules and the like, files above 5 MB, links; but a project unpacked or cloned after a state goes whole, and comes back whole.`;

const input = z.strictObject({
  command: z.enum(["list", "diff", "restore"]),
  id: z.int().min(1).optional().describe("The state's number in list."),
  path: z.string().min(1).optional().describe("Only this file or folder."),
});

/** The `checkpoints` tool over what `withCheckpoints` saved. */
export function checkpointsTool(checkpoints: CheckpointStore): Tool {
  return defineTool({
    name: "checkpoints",
    description,
    input,
    effect: ({ command }) => (command === "restore" ? "idempotent" : "pure"),
    async run({ command, id, path }, context) {
      const { workspace } = context;
      if (command === "list") return await list(checkpoints.all(workspace), await checkpoints.now(workspace));
      const within = path === undefined ? "" : (await workspacePathOf(workspace, path)).relative;
      if (command === "diff" && id === undefined) return sinceBaseline(workspace, within);
      const state = await stateOf(checkpoints, workspace, id);
      if (command === "restore") await checkpoints.take(workspace, occasion(context, id));
      const changes = differences(state.files, await checkpoints.now(workspace)).filter((each) =>
        isWithin(each.path, within),
      );
      if (command === "diff") return await diff(workspace, changes);
      if (within !== "") return await restored(workspace, changes, id);
      await putBackProjects(workspace, state);
      const text = await restored(workspace, changes, id);
      await setAsideProjects(workspace, state);
      return text;
    },
  });
}

function occasion({ key }: ToolContext, id: number | undefined) {
  return { key, tool: "checkpoints", about: `restore ${id}` };
}

async function list(all: AsyncIterable<Checkpoint>, now: Checkpoint["files"]): Promise<string> {
  const lines: string[] = [];
  let last: Checkpoint | undefined;
  for await (const checkpoint of all) {
    lines.push(...stepLines(last, checkpoint.files));
    last = checkpoint;
  }
  lines.push(...stepLines(last, now));
  return lines.length === 0 ? "No call has changed a file yet." : lines.join("\n");
}

/** The call that was made at a checkpoint, when it changed files. */
function stepLines(checkpoint: Checkpoint | undefined, after: Checkpoint["files"]): string[] {
  if (checkpoint === undefined) return [];
  const { id, tool, about, at, files, complete } = checkpoint;
  const changes = differences(files, after);
  if (changes.length === 0) return [];
  const gap = complete ? "" : " [too many files to save them all]";
  return [`${id}  ${new Date(at).toISOString().slice(11, 19)}  ${tool} ${about}${gap}`, `   ${touched(changes)}`];
}

const namedFiles = 8;

function touched(changes: readonly FileDifference[]): string {
  const names = changes.map(({ path, before, after }) => `${before ? (after ? "M" : "D") : "A"} ${path}`);
  return firstOf(names, namedFiles);
}

async function stateOf(
  checkpoints: CheckpointStore,
  workspace: Workspace,
  id: number | undefined,
): Promise<Checkpoint> {
  if (id === undefined)
    throw new AppError("invalid_input", "Give the id of the state to restore, as list numbers them.");
  const state = await checkpoints.find(workspace, id);
  if (state === undefined) throw new AppError("not_found", `There is no state ${id}, or no longer. See list.`);
  return state;
}

async function sinceBaseline(workspace: Workspace, within: string): Promise<string> {
  const patches = await changesPatches(workspace, (path) => isWithin(path, within));
  const parts = patches.map(({ folder, patch }) => (folder === "" ? patch : `[paths from ${folder}/]\n${patch}`));
  return parts.join("\n") || "Nothing differs from what was sent.";
}

async function diff(workspace: Workspace, changes: readonly FileDifference[]): Promise<string> {
  const content = (file: FileDifference["before"]) =>
    file === undefined ? undefined : keptContent(workspace, file.sha256);
  const parts: string[] = [];
  const room = newDiffRoom();
  for (const { path, before, after } of changes) {
    const change = { before: await content(before), after: await content(after), executable: after?.executable };
    const text = await fileDiff(path, change, room);
    if (room.leftOut.at(-1) !== path) parts.push(text || `${path} differs, but not as text.\n`);
  }
  return leftOutText(room) + parts.join("") || "Nothing differs.";
}

async function restored(
  workspace: Workspace,
  changes: readonly FileDifference[],
  id: number | undefined,
): Promise<string> {
  if (changes.length === 0) return `Nothing to restore: the files are as in state ${id}.`;
  await restore(workspace, changes);
  const back = changes.map(({ path, before, after }) => ({
    path,
    ...(after && { before: after }),
    ...(before && { after: before }),
  }));
  return `Restored state ${id}: ${touched(back)}`;
}

function isWithin(path: string, within: string): boolean {
  return within === "" || path === within || path.startsWith(`${within}/`);
}
