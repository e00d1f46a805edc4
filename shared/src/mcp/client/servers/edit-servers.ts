import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { unlessMissing } from "../../../core/errors.ts";
import { underLock } from "../../../machine/workspace/own-files/file-lock.ts";
import { replaceFile } from "../../../machine/workspace/own-files/replace-file.ts";
import { parseServers } from "./read-servers.ts";

/** The entries of `mcpServers` by name, as written. */
export type Entries = Readonly<Record<string, unknown>>;

/**
 * Changes the servers of an `mcp.json`, which is created if missing. The write is atomic and
 * serialized with those of others. An invalid result is not written: rejects with `config_invalid`,
 * or with what `change` throws.
 */
export async function editServers(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  change: (servers: Entries) => Entries,
): Promise<void> {
  await underLock(file, async () => {
    const before = await readFile(file, "utf8").catch(unlessMissing);
    if (before !== undefined) parseServers(before, file, env);
    const whole: { mcpServers: Entries } = before === undefined ? { mcpServers: {} } : JSON.parse(before);
    const text = `${JSON.stringify({ ...whole, mcpServers: change(whole.mcpServers) }, undefined, 2)}\n`;
    parseServers(text, basename(file), env);
    await replaceFile(file, text);
  });
}
