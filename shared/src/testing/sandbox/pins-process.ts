/**
 * Pins the names of a workspace: once, printing them, until its input ends; or as often as the
 * second argument says, failing if a placeholder is missing.
 */
import { readdir } from "node:fs/promises";
import { pinNames } from "../../machine/confinement/pinned-names.ts";
import { guardedFiles } from "../../machine/sandbox/guarded-names.ts";

const [, , workspace = "", turns] = process.argv;
if (turns === undefined) {
  const { names, release } = await pinNames(workspace);
  process.stdout.write(JSON.stringify(names));
  await Bun.stdin.text();
  await release();
}
for (let turn = 0; turn < Number(turns ?? 0); turn++) {
  const { names, release } = await pinNames(workspace);
  const there = await readdir(workspace);
  if (names.length !== guardedFiles.length || there.length !== guardedFiles.length) process.exit(1);
  await release();
}
