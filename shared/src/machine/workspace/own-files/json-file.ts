import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type * as z from "zod";
import { AppError, errnoOf } from "../../../core/errors.ts";
import { replaceFile } from "./replace-file.ts";

/**
 * The content of one of our own JSON files; undefined when there is none. Rejects with `internal`
 * when it does not match the schema.
 */
export async function readJson<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) !== undefined) throw error;
    throw new AppError("internal", `The file ${basename(path)} is damaged.`, { cause: error });
  }
}

/**
 * Replaces one of our own JSON files in one step that survives a power cut. Not safe in folders
 * that tool processes can write.
 */
export function writeJson(path: string, value: unknown): Promise<void> {
  return replaceFile(path, JSON.stringify(value));
}
