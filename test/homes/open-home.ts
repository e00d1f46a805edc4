import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { holdStill, restoreFiles, restoreStore } from "./store.ts";
import { type System, startSystem } from "./system.ts";

/**
 * A stored home with the servers of a checkout up. None of its runs continues before `setGoing`.
 */
export async function openHome(checkout: string, folder: string): Promise<System> {
  const system = await startSystem(checkout, { hold: false, names: await readJson(folder, "names") });
  try {
    restoreStore(await readFile(join(folder, "runs.sql"), "utf8"), system.path, system.names);
    await restoreFiles(await readJson(folder, "files"), system.home, system.names);
    holdStill(system.path);
    await system.startAll();
    return system;
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}

/** One of the JSON files of a stored home. */
export async function readJson(folder: string, name: "names" | "files" | "views" | "ends" | "done") {
  return JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
}
