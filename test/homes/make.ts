/**
 * Makes a stored home, which tests open with later code: `bun test/homes/make.ts CHECKOUT FOLDER`.
 * CHECKOUT holds the version that writes the home, with its packages installed; FOLDER is named
 * after the month of that version, with a letter if there is one. For example:
 *
 * - `git worktree add /tmp/then COMMIT && (cd /tmp/then && bun install)`
 * - `bun test/homes/make.ts /tmp/then test/homes/2026-11`
 *
 * Processes of that version make runs of every kind and are killed. FOLDER then holds:
 *
 * - `runs.sql`, the database, and `names.json`, the values of its names in braces: ids and repeated
 *   texts. Addresses, folders and the machine have names too; the system that opens the home fills
 *   them in. Times are those of the real runs.
 * - `files.json`, the other files of the home.
 * - `done.json`, what model and tools had done by then; they must not be asked to do it again.
 * - `views.json`, what that version shows of the home, and `ends.json`, how the unfinished runs end
 *   under it.
 *
 * Make one for a version before a later one changes what is stored. Never change one: the code it
 * represents does not change either.
 *
 * 2026-11 was written by commit 1c4630b. 2026-11b, with the runs of two principals, was written by
 * the last commit before schema 5.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { endsOf } from "./ends.ts";
import { makeRuns } from "./make-runs.ts";
import { openHome } from "./open-home.ts";
import { dumpFiles, dumpStore, shortNames, stored } from "./store.ts";
import { startSystem } from "./system.ts";
import { viewsOf } from "./views.ts";

const [checkout, folder] = process.argv.slice(2).map((path) => resolve(path));
if (checkout === undefined || folder === undefined) throw new Error("bun test/homes/make.ts CHECKOUT FOLDER");

await mkdir(folder, { recursive: true });
await make(checkout, folder);
await record(checkout, folder);
process.stdout.write(`${folder} is made.\n`);

async function make(code: string, to: string): Promise<void> {
  await using system = await startSystem(code, { hold: true });
  await system.startAll();
  await makeRuns(system);
  await system.kill("gateway", "manus", "data-analysis");
  const sql = stored(dumpStore(system.path), system.names);
  const names = shortNames(sql);
  await writeFile(join(to, "names.json"), lines(names));
  await writeFile(join(to, "runs.sql"), stored(sql, names));
  await writeFile(join(to, "files.json"), lines(await dumpFiles(system.home, { ...system.names, ...names })));
  await writeFile(join(to, "done.json"), lines(system.play.done.toSorted()));
}

async function record(code: string, to: string): Promise<void> {
  await using system = await openHome(code, to);
  await writeFile(join(to, "views.json"), lines(await viewsOf(system)));
  await writeFile(join(to, "ends.json"), lines(await endsOf(system)));
}

/** JSON with one line for each outermost value. */
function lines(value: object): string {
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const entries = Object.entries(value).map(([key, one]) =>
    Array.isArray(value) ? JSON.stringify(one) : `${JSON.stringify(key)}: ${JSON.stringify(one)}`,
  );
  return `${open}\n${entries.join(",\n")}\n${close}\n`;
}
