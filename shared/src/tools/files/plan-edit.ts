import { AppError } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Edit, EditHistory } from "./edit-history.ts";
import { type EditedText, insertText, replaceText } from "./edit-text.ts";
import type { EditorInput } from "./editor-input.ts";
import { numberLines } from "./numbered-lines.ts";
import { type EditedFile, readForEdit } from "./read-for-edit.ts";
import { decodeExactly, splitMark } from "./text-content.ts";

/** An edit that is planned but not made. */
export type PlannedEdit = Omit<Edit, "key">;

/**
 * Plans what a command would do to its file; throws an AppError, worded for the model, when it
 * cannot be done.
 */
export async function planEdit(input: EditorInput, workspace: Workspace, history: EditHistory): Promise<PlannedEdit> {
  const { path } = input;
  switch (input.command) {
    case "create": {
      const after = encode(required("file_text", input));
      const earlier = input.overwrite ? await earlierFile(workspace, path) : undefined;
      if (earlier === undefined) return { before: null, after, text: `File created successfully at: ${path}` };
      return { before: earlier.bytes, after, stats: earlier.stats, text: `The file ${path} has been replaced.` };
    }
    case "str_replace": {
      const oldText = required("old_str", input);
      return await planTextEdit(workspace, path, (text) => ({
        ...replaceText(text, oldText, input.new_str ?? "", path),
        what: `a snippet of ${path}`,
        review: "Review the changes and make sure they are as expected. Edit the file again if necessary.",
      }));
    }
    case "insert": {
      const line = required("insert_line", input);
      const newText = required("new_str", input);
      return await planTextEdit(workspace, path, (text) => ({
        ...insertText(text, line, newText),
        what: "a snippet of the edited file",
        review:
          "Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary.",
      }));
    }
    case "undo_edit":
      return await planUndo(workspace, path, history);
    case "view":
      throw new Error("a view is not an edit");
  }
}

async function earlierFile(workspace: Workspace, path: string): Promise<EditedFile | undefined> {
  return readForEdit(workspace, path).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  });
}

type Described = EditedText & { readonly what: string; readonly review: string };

async function planTextEdit(
  workspace: Workspace,
  path: string,
  change: (text: string) => Described,
): Promise<PlannedEdit> {
  const { bytes, stats } = await readForEdit(workspace, path);
  const { mark, body } = splitMark(decodeExactly(bytes, path));
  const { text, snippet, firstLine, what, review } = change(body);
  const told = `The file ${path} has been edited. ${numberLines(snippet, what, firstLine)}${review}`;
  return { before: bytes, after: encode(mark + text), stats, text: told };
}

async function planUndo(workspace: Workspace, path: string, history: EditHistory): Promise<PlannedEdit> {
  const change = await history.lastChange();
  if (change === undefined) throw new AppError("invalid_input", `No edit history found for ${path}.`);
  const { bytes, stats } = await readForEdit(workspace, path);
  if (sha256Of(bytes) !== change.left) {
    const message = `The last edit to ${path} cannot be undone: the file was changed by something else since.`;
    throw new AppError("conflict", message);
  }
  const done = `Last edit to ${path} undone successfully.`;
  const text =
    change.before === null
      ? `${done} The file did not exist before it, so it was deleted.`
      : `${done} ${numberLines(new TextDecoder().decode(change.before), path)}`;
  return { before: bytes, after: change.before, stats, text, undo: true };
}

function required<Name extends "file_text" | "old_str" | "new_str" | "insert_line">(
  name: Name,
  input: EditorInput,
): NonNullable<EditorInput[Name]> {
  const value = input[name];
  if (value === undefined)
    throw new AppError("invalid_input", `Parameter \`${name}\` is required for command: ${input.command}`);
  return value;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
