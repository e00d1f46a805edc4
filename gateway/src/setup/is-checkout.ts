import { existsSync } from "node:fs";
import { join } from "node:path";

/** Whether the workspace lies here as sources, for Bun to run. It does not in an executable that Bun made, nor where one package was installed alone. */
export function isCheckout(root: string): boolean {
  return existsSync(join(root, "bun.lock")) && existsSync(join(root, "gateway/src/cli/main.ts"));
}
