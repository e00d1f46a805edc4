import { join } from "node:path";
import { createKeyedQueue, type KeyedQueue } from "../../core/async/keyed-queue.ts";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import { isProtected } from "../../machine/workspace/protected-names.ts";
import { kindOf, openFile, type WorkspacePath, workspacePathOf } from "../../machine/workspace/workspace-file.ts";
import { sameFile } from "../risk/same-kind.ts";
import { openEditHistory } from "./edit-history.ts";
import { type EditorInput, editorInput } from "./editor-input.ts";
import { planEdit } from "./plan-edit.ts";
import { editedFile, listedFolder, viewedFile, writtenFile } from "./shown-file.ts";
import { viewFile, viewFolder } from "./view-file.ts";

const description = `Views and edits files of the workspace.
- view: a file with numbered lines, a folder two levels deep, or an image
- create: a new file with file_text; overwrite replaces one
- str_replace: old_str, exact and unique in the file, becomes new_str (left out: deleted)
- insert: new_str, without a last newline, after insert_line
- undo_edit: undoes the file's last edit; can be repeated`;

/**
 * The tool that views and edits the files of an agent's workspace. Edits of one file run one after
 * the other, each completely or not at all; an edit repeated with the same key after a crash gets
 * the same result and is not made twice. Keep one for all agents of a process; other tools that
 * edit files share its `queue`.
 */
export function createStrReplaceEditor(queue: KeyedQueue = createKeyedQueue()): Tool {
  return defineTool({
    name: "str_replace_editor",
    description,
    input: editorInput,
    effect: ({ command }) => (command === "view" ? "pure" : "idempotent"),
    brings: [],
    edits: ({ path }) => [path],
    views: ({ command, path }) => (command === "view" ? path : undefined),
    sameKind: ({ command, path }, risk) => sameFile(path, command === "view", risk),
    async run(given, context) {
      if (given.command === "view") return await view(given, context);
      const { workspace, signal } = context;
      const place = await workspacePathOf(workspace, given.path);
      return await queue(join(workspace.root, place.relative), () => {
        signal.throwIfAborted();
        return edit(given, place, context);
      });
    },
  });
}

async function view({ path, view_range: range }: EditorInput, context: ToolContext): Promise<ToolResult> {
  const { workspace, signal, resultCharacters } = context;
  const place = await workspacePathOf(workspace, path);
  if ((await checkedKind({ command: "view", path }, workspace)) === "file") {
    await using file = await openFile(workspace, path);
    const { whole, ...result } = await viewFile(file.handle, file.stats.size, {
      path,
      range,
      signal,
      resultCharacters,
    });
    if (result.images !== undefined) return result;
    const { text } = result;
    return { ...result, shows: viewedFile(path, place, { text, ...(whole && { whole }), ...(range && { range }) }) };
  }
  if (range !== undefined)
    throw invalid("The `view_range` parameter is not allowed when `path` points to a directory.");
  const text = await viewFolder(workspace, path);
  return { text, isError: false, shows: listedFolder(path, place, text) };
}

async function edit(given: EditorInput, place: WorkspacePath, { workspace, key }: ToolContext): Promise<ToolResult> {
  if (isProtected(place.relative)) {
    const message = `The path ${given.path} is protected: what is in it would take effect outside the sandbox.`;
    throw new AppError("forbidden", message);
  }
  const history = await openEditHistory(workspace, place);
  let text = history.answerTo(key);
  if (text === undefined) {
    await checkedKind(given, workspace);
    const planned = await planEdit(given, workspace, history);
    await history.commit({ ...planned, key });
    text = planned.text;
  }
  const { command, path, file_text: written = "" } = given;
  if (command === "create") return { text, isError: false, shows: writtenFile(place, written) };
  return { text, isError: false, ...(command !== "undo_edit" && { shows: editedFile(path, place) }) };
}

/** Rejects files that a command cannot be used on. */
async function checkedKind(
  { command, path, overwrite = false }: Pick<EditorInput, "command" | "path"> & { readonly overwrite?: boolean },
  workspace: ToolContext["workspace"],
): Promise<"file" | "folder" | "missing"> {
  const kind = await kindOf(workspace, path);
  if (command === "create" && kind !== "missing" && !overwrite)
    throw invalid(
      `File already exists at: ${path}. Cannot overwrite files using command \`create\` unless overwrite is true.`,
    );
  if (command !== "create" && kind === "missing")
    throw invalid(`The path ${path} does not exist. Please provide a valid path.`);
  if (command !== "view" && kind === "folder")
    throw invalid(`The path ${path} is a directory and only the \`view\` command can be used on directories`);
  if (kind === "special") throw invalid(`The path ${path} is not a regular file.`);
  return kind;
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}
