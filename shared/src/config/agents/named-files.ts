import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { AppError } from "../../core/errors.ts";
import { instructionsBound, longestInstructions } from "../sections/agent-section.ts";

/**
 * A file that a key of the settings names. It is looked up only when needed, since other processes
 * of this system may not need it.
 */
export type NamedFile = {
  readonly key: string;
  readonly name: string;
  /** Absolute path of the folder that relative names start from. */
  readonly folder: string;
  /** Where the key was set, for people. */
  readonly origin: string;
};

/**
 * The absolute path of a module to load or to start. Throws `config_invalid` if the name is neither
 * a file nor an installed package.
 */
export function entryPath(entry: NamedFile): string {
  const path = resolve(entry.folder, entry.name);
  const what = kindAt(path);
  if (what === "file") return path;
  try {
    const isPath = what === "folder" || isAbsolute(entry.name) || entry.name.startsWith(".");
    return Bun.resolveSync(isPath ? path : entry.name, entry.folder);
  } catch {
    const found = what === "folder" ? "a folder without an index file" : `neither a file (${path}) nor a package`;
    throw refused(
      entry,
      `it is ${found}. Allowed: a file, relative to the one that names it, or an installed package.`,
    );
  }
}

/** The text of an instructions file. Rejects with `config_invalid` if it is missing or too long. */
export async function readInstructions(file: NamedFile): Promise<string> {
  const path = resolve(file.folder, file.name);
  const allowed = `Allowed: a text file of ${instructionsBound}, relative to the one that names it.`;
  const what = kindAt(path);
  if (what !== "file")
    throw refused(file, `${what === "folder" ? "it is a folder" : `there is no file ${path}`}. ${allowed}`);
  // A character has at most four bytes, so a larger file need not be read.
  const text = Bun.file(path).size > longestInstructions * 4 ? undefined : (await Bun.file(path).text()).trim();
  if (text === undefined || text.length > longestInstructions) throw refused(file, `it is too long. ${allowed}`);
  if (text === "") throw refused(file, `it is empty. ${allowed}`);
  return text;
}

function kindAt(path: string): "file" | "folder" | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return found.isDirectory() ? "folder" : "file";
}

function refused({ key, name, origin }: NamedFile, why: string): AppError {
  return new AppError("config_invalid", `${origin}: ${key} cannot be ${JSON.stringify(name)}: ${why}`);
}
