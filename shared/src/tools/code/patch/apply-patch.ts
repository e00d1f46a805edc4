import { join } from "node:path";
import * as z from "zod";
import type { KeyedQueue } from "../../../core/async/keyed-queue.ts";
import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { WorkspacePath } from "../../../machine/workspace/workspace-file.ts";
import { type Edit, type EditHistory, openEditHistory } from "../../files/edit-history.ts";
import { readForEdit } from "../../files/read-for-edit.ts";
import { parsePatch } from "./parse-patch.ts";
import type { FilePatch } from "./patch.ts";
import { type PlannedFile, placesOf, planFile } from "./plan-patch.ts";

const maxFiles = 50;

const description = `Changes files by a patch, all or nothing. Either a unified diff (--- a/file, +++ b/file, @@ hunks;
/dev/null for a new or removed file; line numbers may be off), or blocks of: the file's name on its own line, <<<<<<< SEARCH, lines exactly as in the
file, =======, the new lines, >>>>>>> REPLACE. If a hunk does not fit, nothing changes and the result shows what is there. undo_edit of str_replace_editor
undoes each file's change.`;

const input = z.strictObject({ patch: z.string().min(1).max(1_000_000).describe("The diff or the blocks.") });

/**
 * The `apply_patch` tool. It writes through the history of `str_replace_editor`, with which it
 * shares `queue`, so that an edit of either can be undone; a call repeated with the same key after
 * a crash completes what it started.
 */
export function applyPatchTool({ queue }: { readonly queue: KeyedQueue }): Tool {
  return defineTool({
    name: "apply_patch",
    description: description.replaceAll("\n", " "),
    input,
    effect: "idempotent",
    edits: ({ patch }) => pathsIn(patch),
    async run({ patch }, context) {
      const files = await placesOf(context.workspace, patch);
      if (files.size > maxFiles) throw new AppError("invalid_input", `A patch may touch ${maxFiles} files at most.`);
      const keys = [...files.keys()].sort().map((path) => join(context.workspace.root, path));
      return await heldAll(queue, keys, () => apply([...files.values()], context));
    },
  });
}

/**
 * The paths that a patch is about; none when it is not a patch, which the call itself will report.
 */
function pathsIn(patch: string): string[] {
  try {
    return parsePatch(patch).map(({ path }) => path);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

/**
 * Waits for its turn at every file, in the same order for all patches, so that two patches cannot
 * deadlock.
 */
function heldAll<T>(queue: KeyedQueue, keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...rest] = keys;
  return first === undefined ? work() : queue(first, () => heldAll(queue, rest, work));
}

type Change = { readonly planned: PlannedFile; readonly history: EditHistory };

async function apply(
  files: readonly [WorkspacePath, FilePatch[]][],
  { workspace, key, signal }: ToolContext,
): Promise<string> {
  signal.throwIfAborted();
  const made: Made[] = [];
  const changes: Change[] = [];
  let answered: string | undefined;
  for (const [place, parts] of files) {
    const history = await openEditHistory(workspace, place);
    const told = history.answerTo(key);
    answered ??= told;
    if (told === undefined) changes.push({ planned: await planFile(workspace, place, parts), history });
    else made.push({ place, history });
  }
  // An interrupted attempt had already recorded its result for all files.
  const text = answered ?? summary(changes.map(({ planned }) => planned));
  try {
    for (const { planned, history } of changes) {
      await history.commit({ ...planned, key, text });
      made.push({ ...planned, history });
    }
  } catch (error) {
    for (const each of made.reverse()) await takeBack(workspace, each, key);
    throw error;
  }
  return text;
}

/**
 * A file that this call has changed, now or in an interrupted attempt. `stats` are those it had
 * before, when known.
 */
type Made = { readonly place: WorkspacePath; readonly history: EditHistory; readonly stats?: Edit["stats"] };

async function takeBack(workspace: Workspace, { place, history, stats }: Made, key: string): Promise<void> {
  const last = await history.lastChange();
  if (last === undefined) return;
  const there = last.left === null ? undefined : await readForEdit(workspace, place.relative);
  const kept = stats ?? there?.stats;
  await history.commit({
    before: there?.bytes ?? null,
    after: last.before,
    ...(kept && { stats: kept }),
    key: `${key}/back`,
    text: "",
    undo: true,
    forget: key,
  });
}

function summary(planned: readonly PlannedFile[]): string {
  const lines = planned.map(({ place, before, after, notes }) => {
    const letter = before === null ? "A" : after === null ? "D" : "M";
    return `${letter} ${place.relative}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  });
  return [`The patch was applied to ${counted(planned.length, "file")}:`, ...lines].join("\n");
}
