import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf, unlessMissing } from "../core/errors.ts";

/**
 * The secret in a file that only the owner can read, created by `make` if there is none. If several
 * processes create one, the first wins.
 */
export async function ownSecret(file: string, make: () => Uint8Array): Promise<Buffer> {
  const there = await readFile(file).catch(unlessMissing);
  if (there !== undefined) return there;
  await mkdir(dirname(file), { recursive: true });
  const staged = `${file}.${crypto.randomUUID()}`;
  await writeFile(staged, make(), { mode: 0o600 });
  try {
    await link(staged, file);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(staged);
  }
  return readFile(file);
}
