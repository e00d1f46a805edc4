import { renameSync, writeFileSync } from "node:fs";

const { LOADED_MODULES = "" } = process.env;

/**
 * Loaded into a server before its program (`bun --preload`): on SIGUSR2 it writes which modules the
 * process has loaded, a path a line, to the file that LOADED_MODULES names.
 */
process.on("SIGUSR2", () => {
  writeFileSync(`${LOADED_MODULES}.new`, Object.keys(require.cache).join("\n"));
  renameSync(`${LOADED_MODULES}.new`, LOADED_MODULES);
});
