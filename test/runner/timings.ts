import { join } from "node:path";
import * as z from "zod";

/** How long test files take, in ms, as `bun test --timings` reads and writes it. */
const timingsShape = z.object({ version: z.literal(1), files: z.record(z.string(), z.number()) });

const folders = "{agents,deploy,docs,flows,gateway,shared,test}";
/** Files that take less are not worth a line. */
const leastMs = 2_000;

/**
 * Writes timings to `path` for every test file of the workspace: those of the slow files as `kept`
 * has them, and none for the rest. `bun test` starts the slowest files first, and before them those
 * it has no timing of.
 */
export async function writeTimings(root: string, kept: string, path: string): Promise<void> {
  const { files } = await readTimings(join(root, kept));
  const all = await Array.fromAsync(new Bun.Glob(`${folders}/**/*.test.ts`).scan({ cwd: root }));
  const timings = Object.fromEntries(all.map((file) => [file, files[file] ?? 0]));
  await Bun.write(path, JSON.stringify({ version: 1, files: timings }));
}

/** Keeps the slow files of the timings at `path`, the slowest first. */
export async function keepTimings(path: string, root: string, kept: string): Promise<void> {
  const { files } = await readTimings(path);
  const slow = Object.entries(files).filter(([, ms]) => ms >= leastMs);
  const sorted = Object.fromEntries(slow.toSorted(([, a], [, b]) => b - a));
  await Bun.write(join(root, kept), `${JSON.stringify({ version: 1, files: sorted }, undefined, 2)}\n`);
}

async function readTimings(path: string): Promise<z.output<typeof timingsShape>> {
  return timingsShape.parse(await Bun.file(path).json());
}
