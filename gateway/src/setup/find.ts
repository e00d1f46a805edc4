import { existsSync } from "node:fs";
import { downloadedBrowser } from "./browser-download.ts";
import type { Program } from "./programs.ts";

const macBrowsers = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const fontFolders = ["/usr/share/fonts", "/usr/local/share/fonts"];

/** The path of a program or a font on this machine; undefined if it is missing. */
export function findProgram(program: Program): string | undefined {
  for (const command of program.commands) {
    const path = Bun.which(command);
    if (path !== null) return path;
  }
  if (program.fonts !== undefined) return findFont(program.fonts);
  if (program.name !== "chromium") return undefined;
  return macBrowsers.find((path) => existsSync(path)) ?? downloadedBrowser();
}

function findFont(names: string): string | undefined {
  for (const cwd of fontFolders.filter((path) => existsSync(path))) {
    for (const file of new Bun.Glob(names).scanSync({ cwd, followSymlinks: true, absolute: true })) return file;
  }
  return undefined;
}
