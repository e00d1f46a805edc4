import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { isProtected } from "../../../machine/workspace/protected-names.ts";
import { kindOf, type WorkspacePath, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import type { Edit } from "../../files/edit-history.ts";
import { readForEdit } from "../../files/read-for-edit.ts";
import { decodeExactly, splitMark } from "../../files/text-content.ts";
import { parsePatch } from "./parse-patch.ts";
import type { FilePatch } from "./patch.ts";
import { createdText, patchText } from "./patch-text.ts";

/** The planned effect of a patch on one file. */
export type PlannedFile = Pick<Edit, "before" | "after" | "stats"> & {
  readonly place: WorkspacePath;
  readonly notes: readonly string[];
};

/**
 * The parts of a patch grouped by file, each with its place. Rejects paths outside the workspace
 * and protected names.
 */
export async function placesOf(
  workspace: Workspace,
  patch: string,
): Promise<Map<string, [WorkspacePath, FilePatch[]]>> {
  const files = new Map<string, [WorkspacePath, FilePatch[]]>();
  for (const file of parsePatch(patch)) {
    const place = await workspacePathOf(workspace, file.path);
    if (isProtected(place.relative)) {
      const message = `The path ${file.path} is protected: what is in it would take effect outside the sandbox.`;
      throw new AppError("forbidden", message);
    }
    const [, parts] = files.get(place.relative) ?? [place, []];
    files.set(place.relative, [place, [...parts, file]]);
  }
  return files;
}

/**
 * Plans what the parts of a patch make of a file, without touching it. Throws, with a message for
 * the model, when one does not fit.
 */
export async function planFile(
  workspace: Workspace,
  place: WorkspacePath,
  parts: readonly FilePatch[],
): Promise<PlannedFile> {
  const path = place.relative;
  const kind = await kindOf(workspace, path);
  if (kind !== "file" && kind !== "missing")
    throw new AppError("invalid_input", `The path ${path} is not a regular file.`);
  const there = kind === "file" ? await readForEdit(workspace, path) : undefined;
  const { mark, body } = splitMark(there === undefined ? "" : decodeExactly(there.bytes, path));
  let text: string | undefined = there === undefined ? undefined : body;
  const notes: string[] = [];
  for (const part of parts) {
    const patched = patchedBy(part, text);
    text = patched.text;
    notes.push(...patched.notes);
  }
  return {
    place,
    notes,
    before: there?.bytes ?? null,
    after: text === undefined ? null : new TextEncoder().encode(mark + text),
    ...(there && { stats: there.stats }),
  };
}

function patchedBy(
  part: FilePatch,
  text: string | undefined,
): { readonly text: string | undefined; readonly notes: readonly string[] } {
  if (part.kind === "create") {
    if (text !== undefined)
      throw new AppError("conflict", `The patch makes ${part.path}, but that file is there already.`);
    return { text: createdText(part), notes: [] };
  }
  if (text === undefined)
    throw new AppError("not_found", `The file ${part.path} that is to be patched does not exist.`);
  const patched = patchText(text, part);
  if (part.kind === "update") return patched;
  if (patched.text !== "")
    throw new AppError(
      "conflict",
      `The patch removes ${part.path}, but the file has more lines than the patch takes away.`,
    );
  return { text: undefined, notes: patched.notes };
}
