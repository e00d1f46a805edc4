import { dirname, join } from "node:path";
import { type CommandOutcome, runCommand } from "./command.ts";

/**
 * Playwright's own Chromium, where it has been downloaded by whoever this is: the folder it is in.
 */
export function downloadedBrowser(): string | undefined {
  const home = process.env.HOME ?? "/";
  const cache = process.platform === "darwin" ? join(home, "Library", "Caches") : join(home, ".cache");
  const folder = process.env.PLAYWRIGHT_BROWSERS_PATH ?? join(cache, "ms-playwright");
  try {
    const [marker] = new Bun.Glob("chromium-*/INSTALLATION_COMPLETE").scanSync({ cwd: folder });
    return marker === undefined ? undefined : join(folder, marker.split("/")[0] ?? "");
  } catch {
    return undefined;
  }
}

/** The command a person would type to download it. */
export const browserDownloadCommand = `${import.meta.path.endsWith(".ts") ? "bunx" : "npx"} playwright install chromium`;

/**
 * Downloads it, for this user alone; needs what is installed with the workspace or the package.
 * Bounded to four minutes.
 */
export function downloadBrowser(root: string): Promise<CommandOutcome> {
  const cli = join(dirname(Bun.resolveSync("playwright/package.json", join(root, "shared"))), "cli.js");
  return runCommand([process.execPath, cli, "install", "chromium"], { cwd: root, timeoutMs: 240_000 });
}
