import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errnoOf, unlessMissing } from "../../../core/errors.ts";
import { parseServers } from "./read-servers.ts";

/** The entries of `mcpServers` by name, as they are written. */
export type Entries = Readonly<Record<string, unknown>>;

/**
 * Changes the servers of an `mcp.json`, which is made where there is none, as one write that is there whole or not at all, after those of others. What
 * would not be taken is not written: rejects with `config_invalid`, or with what `change` throws.
 */
export async function editServers(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  change: (servers: Entries) => Entries,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await inTurn(`${file}.lock`, async () => {
    const before = await readFile(file, "utf8").catch(unlessMissing);
    if (before !== undefined) parseServers(before, file, env);
    const whole: { mcpServers: Entries } = before === undefined ? { mcpServers: {} } : JSON.parse(before);
    const text = `${JSON.stringify({ ...whole, mcpServers: change(whole.mcpServers) }, undefined, 2)}\n`;
    parseServers(text, basename(file), env);
    const staged = `${file}.${crypto.randomUUID()}`;
    try {
      await writeFile(staged, text, { mode: 0o600 });
      await rename(staged, file);
    } finally {
      await rm(staged, { force: true });
    }
  });
}

/** A change takes milliseconds: whoever holds the lock for longer than this has died over it. */
const staleMs = 5_000;

/** Does the work while nobody else, of this process or another, does work under the same lock. */
async function inTurn(lock: string, work: () => Promise<void>): Promise<void> {
  for (let seen = { mtimeMs: 0, at: 0 }; !(await taken(lock)); ) {
    const held = await stat(lock).catch(unlessMissing);
    if (held !== undefined && held.mtimeMs !== seen.mtimeMs) seen = { mtimeMs: held.mtimeMs, at: performance.now() };
    if (held !== undefined && performance.now() - seen.at > staleMs) await rm(lock, { recursive: true, force: true });
    else await Bun.sleep(5);
  }
  try {
    await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return false;
  }
}
