import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the folder of Manyhands is: the workspace with its sources, or the published package. */
export type Installation = "checkout" | "package";

const kinds: Readonly<Record<string, Installation>> = { "manyhands-workspace": "checkout", manyhands: "package" };

/**
 * What lies in this folder; undefined where it is neither, as in an executable that Bun made, or
 * where files were copied out of either.
 */
export function installationIn(root: string): Installation | undefined {
  if (!existsSync(join(root, "gateway/src/cli/main.ts"))) return undefined;
  return kinds[JSON.parse(readFileSync(join(root, "package.json"), "utf8")).name];
}
