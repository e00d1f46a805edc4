import { join } from "node:path";
import * as z from "zod";
import { AppError } from "../../errors.ts";
import type { Place } from "../../workspace/workspace-file.ts";
import { type EditHistory, openEditHistory } from "../files/edit-history.ts";
import type { KeyedQueue } from "../keyed-queue.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import type { FilePatch } from "./patch.ts";
import { type PlannedFile, placesOf, planFile } from "./plan-patch.ts";

const mostFiles = 50;

const description = `Changes one or several files by a patch, all of it or nothing. Either a unified diff (--- a/file, +++ b/file, @@ hunks;
/dev/null for a file that is made or removed; line numbers may be off), or blocks of: the file's name on a line of its own, <<<<<<< SEARCH, lines as they stand in the
file, =======, the lines to put there, >>>>>>> REPLACE. When a hunk does not fit, nothing is changed and the answer shows what stands there. Each file's change can be taken back with
undo_edit of str_replace_editor.`;

const input = z.strictObject({ patch: z.string().min(1).max(1_000_000).describe("The diff or the blocks.") });

/**
 * The `apply_patch` tool. It writes through the history of `str_replace_editor`, with which it shares `queue`, so that an edit of either can be
 * undone; a call repeated with the same key after a crash finishes what it began.
 */
export function applyPatchTool({ queue }: { readonly queue: KeyedQueue }): Tool {
  return defineTool({
    name: "apply_patch",
    description: description.replaceAll("\n", " "),
    input,
    effect: "idempotent",
    async run({ patch }, context) {
      const files = await placesOf(context.workspace, patch);
      if (files.size > mostFiles) throw new AppError("invalid_input", `A patch may touch ${mostFiles} files at most.`);
      const keys = [...files.keys()].sort().map((path) => join(context.workspace.root, path));
      return await heldAll(queue, keys, () => apply([...files.values()], context));
    },
  });
}

/** Waits for its turn at every file, in one order for all, so that two patches cannot wait for each other. */
function heldAll<T>(queue: KeyedQueue, keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...rest] = keys;
  return first === undefined ? work() : queue(first, () => heldAll(queue, rest, work));
}

type Change = { readonly planned: PlannedFile; readonly history: EditHistory };

async function apply(files: readonly [Place, FilePatch[]][], { workspace, key, signal }: ToolContext): Promise<string> {
  signal.throwIfAborted();
  const changes: Change[] = [];
  let answered: string | undefined;
  for (const [place, parts] of files) {
    const history = await openEditHistory(workspace, place);
    const told = history.answerTo(key);
    answered ??= told;
    if (told === undefined) changes.push({ planned: await planFile(workspace, place, parts), history });
  }
  // An attempt that was cut off had worked out its answer for all files.
  const text = answered ?? summary(changes.map(({ planned }) => planned));
  await commitAll(changes, key, text);
  return text;
}

async function commitAll(changes: readonly Change[], key: string, text: string): Promise<void> {
  const made: Change[] = [];
  try {
    for (const change of changes) {
      await change.history.commit({ ...change.planned, key, text });
      made.push(change);
    }
  } catch (error) {
    for (const { planned, history } of made.reverse())
      await history.commit({
        ...planned,
        before: planned.after,
        after: planned.before,
        key: `${key}/back`,
        text: "",
        undo: true,
        forget: key,
      });
    throw error;
  }
}

function summary(planned: readonly PlannedFile[]): string {
  const lines = planned.map(({ place, before, after, notes }) => {
    const letter = before === null ? "A" : after === null ? "D" : "M";
    return `${letter} ${place.relative}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  });
  return [`The patch was applied to ${planned.length} file${planned.length === 1 ? "" : "s"}:`, ...lines].join("\n");
}
