import { isAbsolute, join, relative } from "node:path";
import { parse, TomlError } from "smol-toml";
import { AppError } from "../core/errors.ts";

/** The settings file as it was read: how to name it to its owner, its text, and what it holds. */
export type SettingsFile = {
  readonly name: string;
  readonly source: string;
  readonly table: Readonly<Record<string, unknown>>;
};

/**
 * Reads `file` (relative to `cwd`), or `manyhands.toml` in `cwd` where there is one. Rejects with `config_invalid` when a named
 * file is not there or when the text is not TOML.
 */
export async function readSettingsFile(cwd: string, file: string | undefined): Promise<SettingsFile | undefined> {
  const wanted = file ?? "manyhands.toml";
  const path = isAbsolute(wanted) ? wanted : join(cwd, wanted);
  const name = relative(cwd, path).startsWith("..") ? path : relative(cwd, path);
  const handle = Bun.file(path);
  if (!(await handle.exists())) {
    if (file === undefined) return undefined;
    throw new AppError("config_invalid", `The settings file ${name} is not there.`);
  }
  const source = await handle.text();
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
