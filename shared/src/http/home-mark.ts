import { statSync } from "node:fs";
import { sha256Of } from "../core/text/sha256.ts";

/**
 * What all servers of a home on this machine answer with, so that a command knows whether a server
 * is one of its home. It names the folder and says nothing of its path. Undefined for a folder that
 * is not there.
 */
export function homeMark(home: string): string | undefined {
  const found = statSync(home, { bigint: true, throwIfNoEntry: false });
  return found && sha256Of(`${found.dev}:${found.ino}`).slice(0, 16);
}
