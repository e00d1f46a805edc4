import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A checkout with its sources, or the published package. */
export type Installation = "checkout" | "package";

const kinds: Readonly<Record<string, Installation>> = { "manyhands-workspace": "checkout", manyhands: "package" };

/**
 * The kind of installation in this folder; undefined if it is neither, as in a compiled executable
 * or when files were copied elsewhere.
 */
export function installationIn(root: string): Installation | undefined {
  if (!existsSync(join(root, "gateway/src/cli/main.ts"))) return undefined;
  return kinds[JSON.parse(readFileSync(join(root, "package.json"), "utf8")).name];
}
