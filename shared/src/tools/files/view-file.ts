import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { entriesOf, holdIfThere } from "../../machine/workspace/held-folder.ts";
import { workspacePathOf } from "../../machine/workspace/workspace-file.ts";
import { clipped, maxShown, numberLines, shownWithin } from "./numbered-lines.ts";
import { binaryError, isBinary } from "./text-content.ts";
import { imageTypeOf, viewImage } from "./view-image.ts";

/**
 * The most bytes that the shown characters can have, plus one more character, which shows that
 * there is more.
 */
const maxBytes = 4 * (maxShown + 1);

/** What a view shows: the path as the model gave it, and optionally a range of lines. */
export type FileView = {
  readonly path: string;
  readonly range: readonly number[] | undefined;
  /** How many characters of a result the model reads. */
  readonly resultCharacters: number;
  readonly signal: AbortSignal;
};

/**
 * Shows a file, a range of its lines, or an image. Throws an AppError, worded for the model.
 * `whole` are the bytes if all of them are shown as text.
 */
export async function viewFile(
  handle: FileHandle,
  size: number,
  view: FileView,
): Promise<ToolResult & { readonly whole?: Uint8Array }> {
  const head = Buffer.alloc(8192);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  const start = head.subarray(0, bytesRead);
  const imageType = imageTypeOf(start);
  if (imageType !== undefined) return await viewImage(handle, { path: view.path, size, mediaType: imageType });
  if (isBinary(start)) throw binaryError(view.path);
  const { bytes, firstLine } = await bytesToShow(handle, view);
  if (isBinary(bytes)) throw binaryError(view.path);
  const text = inText(bytes, view, firstLine);
  const isWhole = view.range === undefined && !text.includes(clipped);
  return { text, isError: false, ...(isWhole && { whole: bytes }) };
}

async function bytesToShow(
  handle: FileHandle,
  { range, signal }: FileView,
): Promise<{ bytes: Uint8Array; firstLine: number }> {
  if (range === undefined) {
    const all = await readLines(handle, { from: 1, to: Number.POSITIVE_INFINITY, maxBytes, signal });
    return { bytes: all.bytes, firstLine: 1 };
  }
  const [first, last] = range;
  if (first === undefined || last === undefined || range.length !== 2)
    throw invalid("Invalid `view_range`. It should be a list of two integers.");
  const shown = `Invalid \`view_range\`: [${first}, ${last}].`;
  const to = last === -1 ? Number.POSITIVE_INFINITY : last;
  // The error for an impossible range includes the number of lines, so all of them have to be
  // counted.
  const possible = first >= 1 && to >= first;
  const read = await readLines(handle, possible ? { from: first, to, maxBytes, signal } : countAll(signal));
  if (first < 1 || (read.ended && first > read.lines))
    throw invalid(
      `${shown} Its first element \`${first}\` should be within the range of lines of the file: [1, ${read.lines}]`,
    );
  if (last !== -1 && read.ended && last > read.lines)
    throw invalid(
      `${shown} Its second element \`${last}\` should be smaller than the number of lines in the file: \`${read.lines}\``,
    );
  if (!possible)
    throw invalid(`${shown} Its second element \`${last}\` should be larger or equal than its first \`${first}\``);
  return { bytes: read.bytes, firstLine: first };
}

function countAll(signal: AbortSignal): Parameters<typeof readLines>[1] {
  const never = Number.MAX_SAFE_INTEGER;
  return { from: never, to: never, maxBytes: 0, signal };
}

function inText(bytes: Uint8Array, { path, resultCharacters }: FileView, firstLine: number): string {
  const most = shownWithin(resultCharacters);
  try {
    // `stream` leaves out a last character that was cut in two.
    return numberLines(
      new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }),
      path,
      firstLine,
      most,
    );
  } catch {
    const note =
      "This file is not valid UTF-8: bytes that are not are shown as \ufffd, and it cannot be edited here.\n";
    return numberLines(new TextDecoder().decode(bytes), path, firstLine, most) + note;
  }
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}

const chunkBytes = 64 * 1024;

/**
 * Some lines of a file. `lines` is how many were counted before reading ended; with `ended` it is
 * the file's total.
 */
export type ReadLines = { readonly bytes: Uint8Array; readonly lines: number; readonly ended: boolean };

/**
 * Reads the lines from `from` (counted from 1) to `to`, which may be Infinity, in chunks: for a
 * file of any size, no more than `maxBytes` and a chunk are in memory. Ends early when there is
 * nothing more to find out. Rejects with the signal's reason.
 */
async function readLines(
  handle: FileHandle,
  { from, to, maxBytes, signal }: { from: number; to: number; maxBytes: number; signal: AbortSignal },
): Promise<ReadLines> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  const result = (ended: boolean) => ({ bytes: Buffer.concat(kept).subarray(0, maxBytes), lines: line, ended });
  const buffer = Buffer.alloc(chunkBytes);
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position);
    if (bytesRead === 0) return result(true);
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    for (let at = 0; at < bytesRead; ) {
      const newline = chunk.indexOf(10, at);
      const end = newline === -1 ? bytesRead : newline + (line === to ? 0 : 1);
      if (line >= from && keptBytes < maxBytes) {
        kept.push(Buffer.from(chunk.subarray(at, end)));
        keptBytes += end - at;
      }
      if (to === Number.POSITIVE_INFINITY && keptBytes >= maxBytes) return result(false);
      if (newline === -1) break;
      if (line === to) return result(false);
      line++;
      at = newline + 1;
    }
  }
}

const maxEntries = 500;

/**
 * The names in a folder and in its subfolders, without hidden ones. `path` is as the model gave it,
 * and so are the paths in the list.
 */
export async function viewFolder(workspace: Workspace, path: string): Promise<string> {
  const { folders, name } = await workspacePathOf(workspace, path);
  const shown = path.replace(/(?<=.)\/+$/, "") || ".";
  const lines = await pathsIn(workspace.root, name === "" ? [] : [...folders, name], shown, 2);
  const cut = lines.length > maxEntries ? `(${lines.length - maxEntries} more are not shown)\n` : "";
  return (
    `Here's the files and directories up to 2 levels deep in ${shown}, excluding hidden items:\n` +
    `${[shown, ...lines.slice(0, maxEntries)].join("\n")}\n${cut}`
  );
}

async function pathsIn(root: string, folders: readonly string[], shown: string, levels: number): Promise<string[]> {
  await using folder = await holdIfThere(root, folders);
  if (folder === undefined) return [];
  const paths: string[] = [];
  for (const { name, kind } of await entriesOf(folder)) {
    if (name.startsWith(".")) continue;
    const path = `${shown}/${name.replaceAll(/\p{Cc}/gu, "?")}`;
    paths.push(path);
    if (kind === "folder" && levels > 1) paths.push(...(await pathsIn(root, [...folders, name], path, levels - 1)));
  }
  return paths;
}
