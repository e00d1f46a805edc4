import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { ToolResult } from "../../core/tool.ts";
import { mostShown, numberLines } from "./numbered-lines.ts";
import { readLines } from "./read-lines.ts";
import { binaryError, isBinary } from "./text-content.ts";
import { imageTypeOf, viewImage } from "./view-image.ts";

/** As many bytes as the characters that are shown can have, and one more character, by which it is seen that there is more. */
const mostBytes = 4 * (mostShown + 1);

/** What a view is to show: the path as the model gave it, and perhaps a range of lines. */
export type View = {
  readonly path: string;
  readonly range: readonly number[] | undefined;
  readonly signal: AbortSignal;
};

/** Shows a file, or a range of its lines, or an image. Throws an AppError in words for the model. */
export async function viewFile(handle: FileHandle, size: number, view: View): Promise<ToolResult> {
  const head = Buffer.alloc(8192);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  const start = head.subarray(0, bytesRead);
  const imageType = imageTypeOf(start);
  if (imageType !== undefined) return await viewImage(handle, { path: view.path, size, mediaType: imageType });
  if (isBinary(start)) throw binaryError(view.path);
  const { bytes, firstLine } = await bytesToShow(handle, view);
  if (isBinary(bytes)) throw binaryError(view.path);
  return { text: inText(bytes, view.path, firstLine), isError: false };
}

async function bytesToShow(
  handle: FileHandle,
  { range, signal }: View,
): Promise<{ bytes: Uint8Array; firstLine: number }> {
  if (range === undefined) {
    const all = await readLines(handle, { from: 1, to: Number.POSITIVE_INFINITY, mostBytes, signal });
    return { bytes: all.bytes, firstLine: 1 };
  }
  const [first, last] = range;
  if (first === undefined || last === undefined || range.length !== 2)
    throw invalid("Invalid `view_range`. It should be a list of two integers.");
  const shown = `Invalid \`view_range\`: [${first}, ${last}].`;
  const to = last === -1 ? Number.POSITIVE_INFINITY : last;
  // A range that cannot be right is told with the number of lines, for which all have to be counted.
  const possible = first >= 1 && to >= first;
  const read = await readLines(handle, possible ? { from: first, to, mostBytes, signal } : countAll(signal));
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
  return { from: never, to: never, mostBytes: 0, signal };
}

function inText(bytes: Uint8Array, path: string, firstLine: number): string {
  try {
    // A last character that was cut in two is left out by `stream`.
    return numberLines(new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }), path, firstLine);
  } catch {
    const note =
      "This file is not valid UTF-8: bytes that are not are shown as \ufffd, and it cannot be edited here.\n";
    return numberLines(new TextDecoder().decode(bytes), path, firstLine) + note;
  }
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}
