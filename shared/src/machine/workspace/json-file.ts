import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type * as z from "zod";
import { AppError, errnoOf } from "../../core/errors.ts";

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
export async function writeJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const arriving = `${path}.${crypto.randomUUID()}`;
  try {
    await using file = await open(arriving, "wx", 0o600);
    await file.writeFile(JSON.stringify(value));
    await file.sync();
    await rename(arriving, path);
  } catch (error) {
    await rm(arriving, { force: true });
    throw error;
  }
  await using folder = await open(dirname(path), "r");
  await folder.sync();
}
