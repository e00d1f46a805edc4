import { existsSync } from "node:fs";
import { downloadedBrowser } from "./browser-download.ts";
import type { Program } from "./programs.ts";

const macBrowsers = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Where a program is on this machine, undefined when it is not. */
export function findProgram(program: Program): string | undefined {
  for (const command of program.commands) {
    const path = Bun.which(command);
    if (path !== null) return path;
  }
  if (program.name !== "chromium") return undefined;
  return macBrowsers.find((path) => existsSync(path)) ?? downloadedBrowser();
}
