import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../core/errors.ts";
import { ownCommand } from "../../core/release.ts";
import { playwrightChromium } from "./playwright.ts";
import type { BrowserSettings } from "./settings.ts";

/** Chromium without what shows windows: a conversation's context costs it a sixth. */
const shells = ["chromium-headless-shell", "chrome-headless-shell"];

const commands = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const macPaths = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** What decides which browser will do. */
type Needs = Pick<BrowserSettings, "executable" | "headless" | "userDataDir">;

/**
 * Finds the browser to start: the configured one, the system's, or Playwright's own download.
 * Without a window and the user's own data a headless shell is preferred. Rejects with
 * `config_invalid` when the configured one does not exist, and with `unavailable`, which says how
 * to install one, when there is none.
 */
export async function findChromium({ executable, headless, userDataDir }: Needs): Promise<string> {
  if (executable !== undefined) {
    if (existsSync(executable)) return executable;
    throw new AppError("config_invalid", `browser.chrome_instance_path is ${executable}, which does not exist.`);
  }
  const isWhole = !headless || userDataDir !== undefined;
  const found =
    (isWhole ? undefined : (installed(shells) ?? (await downloadedShell()))) ??
    installed(commands) ??
    macPaths.find((path) => process.platform === "darwin" && existsSync(path)) ??
    (await downloaded());
  if (found !== undefined) return found;
  throw new AppError(
    "unavailable",
    isWhole
      ? "There is no Chromium with windows on this machine, as browser.headless = false and browser.user_data_dir need. Install the package chromium, or Google Chrome."
      : `There is no Chromium on this machine. \`${ownCommand} setup\` installs one.`,
  );
}

function installed(names: readonly string[]): string | undefined {
  return names.map((name) => Bun.which(name)).find((path) => path !== null) ?? undefined;
}

async function downloaded(): Promise<string | undefined> {
  const path = await downloadPath();
  return existsSync(path) ? path : undefined;
}

/** Playwright keeps its headless shell in a folder beside that of its Chromium. */
async function downloadedShell(): Promise<string | undefined> {
  const folder = dirname(dirname(dirname(await downloadPath())));
  if (!existsSync(folder)) return undefined;
  const names = new Bun.Glob("chromium_headless_shell-*/*/{chrome-headless-shell,headless_shell}");
  return [...names.scanSync({ cwd: folder, absolute: true })].sort().at(-1);
}

async function downloadPath(): Promise<string> {
  return (await playwrightChromium()).executablePath();
}
