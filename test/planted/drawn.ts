import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { Fault } from "./fault.ts";

const drawn = z.array(
  z.strictObject({ id: z.string(), file: z.string(), find: z.string(), becomes: z.string(), harm: z.string() }),
);

/** What says nothing about the product, or holds for each fault only where it is listed. */
const apart = ["bench", "docs", "node_modules", "planted", "runner", "servers"];

/**
 * The faults in a file that somebody drew: `[{ id, file, find, becomes, harm }]`, as in `fault.ts`.
 * For each the tests are its file's own, then its folder's, its package's, and all others. Rejects
 * if the file is no such list.
 */
export async function drawnFaults(root: string, path: string): Promise<Fault[]> {
  const list = drawn.parse(await Bun.file(path).json());
  const spanning = (await readdir(join(root, "test"), { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && !apart.includes(entry.name))
    .map(({ name }) => `./test/${name}/`)
    .toSorted();
  return list.map((fault) => ({ ...fault, tests: testsOf(root, fault.file, spanning) }));
}

function testsOf(root: string, file: string, spanning: readonly string[]): string[] {
  const own = file.replace(/\.\w+$/, ".test.ts");
  const [top = ""] = file.split("/");
  const packages = ["shared", "flows", "gateway", "agents"].toSorted((one) => (one === top ? -1 : 1));
  return [
    ...(existsSync(join(root, own)) ? [`./${own}`] : []),
    `./${dirname(file)}/`,
    ...packages.map((name) => `./${name}/`),
    ...spanning,
  ];
}
