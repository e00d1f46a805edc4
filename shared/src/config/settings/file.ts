import { isAbsolute, join, relative } from "node:path";
import { AppError } from "../../core/errors.ts";

/** The settings file as read: its name for people, its text, and its content. */
export type SettingsText = {
  readonly name: string;
  readonly source: string;
  readonly table: Readonly<Record<string, unknown>>;
};

/**
 * Reads `file` (relative to `cwd`), or `manyhands.toml` in `cwd` if it exists. Rejects with
 * `config_invalid` if a named file does not exist or the text is not TOML.
 */
export async function readSettingsFile(cwd: string, file: string | undefined): Promise<SettingsText | undefined> {
  const wanted = file ?? "manyhands.toml";
  const path = isAbsolute(wanted) ? wanted : join(cwd, wanted);
  const name = relative(cwd, path).startsWith("..") ? path : relative(cwd, path);
  const handle = Bun.file(path);
  if (!(await handle.exists())) {
    if (file === undefined) return undefined;
    throw new AppError("config_invalid", `The settings file ${name} does not exist.`);
  }
  const source = await handle.text();
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { name, source, table: parse(source) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const cause = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    throw new AppError(
      "config_invalid",
      `${name}, line ${error.line}, column ${error.column}: not valid TOML: ${cause}.`,
      {
        cause: error,
      },
    );
  }
}

/**
 * The line (from 1) where a TOML text sets the key at this path, or the header of its table;
 * undefined if a line-by-line search cannot find it (an inline table, a multi-line text). The
 * parser reports no positions.
 */
export function lineOf(source: string, path: readonly string[]): number | undefined {
  const wanted = path.join(".");
  let table: string[] = [];
  let best: { line: number; length: number } | undefined;
  for (const [index, line] of source.split("\n").entries()) {
    const header = /^\s*\[\[?([^\]]+)\]\]?\s*(#.*)?$/.exec(line)?.[1];
    if (header !== undefined) table = splitKey(header);
    const key = header === undefined ? /^\s*([^=#[]+?)\s*=/.exec(line)?.[1] : undefined;
    const here = (key === undefined ? table : [...table, ...splitKey(key)]).join(".");
    if (header === undefined && key === undefined) continue;
    if (here === wanted) return index + 1;
    if (wanted.startsWith(`${here}.`) && here.length > (best?.length ?? 0))
      best = { line: index + 1, length: here.length };
  }
  return best?.line;
}

/** The parts of a dotted TOML key, without quotes. */
function splitKey(key: string): string[] {
  return [...key.matchAll(/"([^"]*)"|'([^']*)'|([^.\s"']+)/g)].map((part) => part[1] ?? part[2] ?? part[3] ?? "");
}
