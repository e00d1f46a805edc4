import { existsSync } from "node:fs";
import { AppError } from "../../core/errors.ts";
import { ownCommand } from "../../core/release.ts";
import { playwrightChromium } from "./playwright.ts";

const commands = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const macPaths = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/**
 * Finds the browser to start: the configured one, the system's, or Playwright's own download.
 * Rejects with `config_invalid` when the configured one does not exist, and with `unavailable`,
 * which says how to install one, when there is none.
 */
export async function findChromium(configured: string | undefined): Promise<string> {
  if (configured !== undefined) {
    if (existsSync(configured)) return configured;
    throw new AppError("config_invalid", `browser.chrome_instance_path is ${configured}, which does not exist.`);
  }
  const found =
    commands.map((command) => Bun.which(command)).find((path) => path !== null) ??
    macPaths.find((path) => process.platform === "darwin" && existsSync(path)) ??
    (await ownDownload());
  if (found !== undefined) return found;
  throw new AppError("unavailable", `There is no Chromium on this machine. \`${ownCommand} setup\` installs one.`);
}

async function ownDownload(): Promise<string | undefined> {
  const chromium = await playwrightChromium();
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}
