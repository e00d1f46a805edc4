import { dirname, join } from "node:path";
import { type ProgramOutcome, runProgram } from "./command.ts";

/** The folder of a Chromium of Playwright's, if this user has downloaded one. */
export function downloadedBrowser(): string | undefined {
  const home = process.env.HOME ?? "/";
  const cache = process.platform === "darwin" ? join(home, "Library", "Caches") : join(home, ".cache");
  const folder = process.env.PLAYWRIGHT_BROWSERS_PATH ?? join(cache, "ms-playwright");
  try {
    const [marker] = new Bun.Glob("chromium{_headless_shell,}-*/INSTALLATION_COMPLETE").scanSync({ cwd: folder });
    return marker === undefined ? undefined : join(folder, marker.split("/")[0] ?? "");
  } catch {
    return undefined;
  }
}

/** The command that downloads it. */
export const browserDownloadCommand = `${import.meta.path.endsWith(".ts") ? "bunx" : "npx"} playwright install --only-shell chromium`;

/**
 * Downloads it for this user only, with the Playwright of the workspace or the package. Takes at
 * most four minutes.
 */
export function downloadBrowser(root: string): Promise<ProgramOutcome> {
  const cli = join(dirname(Bun.resolveSync("playwright/package.json", join(root, "shared"))), "cli.js");
  return runProgram([process.execPath, cli, "install", "--only-shell", "chromium"], { cwd: root, timeoutMs: 240_000 });
}
