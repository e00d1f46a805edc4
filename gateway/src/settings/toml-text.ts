import { patch } from "@decimalturn/toml-patch";
import { isTable } from "manyhands/internal/config/settings/table";
import { AppError } from "manyhands/internal/core/errors";
import { defined } from "manyhands/internal/core/json";
import { parse, stringify, TomlError } from "smol-toml";

/** A table of a settings file. */
export type TomlTable = { readonly [key: string]: unknown };

/**
 * The text with these keys of a table set, or removed if `undefined`. Everything else, comments
 * included, stays where it is; a missing table is added at the end.
 */
export function withKeys(text: string, table: string, keys: TomlTable): string {
  const before = parse(text);
  const own = tableIn(before, [table]);
  const next = defined({ ...own, ...keys });
  const after = { ...before, [table]: next };
  if (Object.values(own).some((value) => !isTable(value))) return checked(patch(text, after), after);
  // The editor would write a table without keys of its own at the top, dotted.
  const added = stringify({ [table]: defined(keys) });
  if (text.trim() === "") return checked(added, after);
  const inPlace = withBlock(text, table, added);
  return checked(Bun.deepEquals(parsedOr(inPlace), after) ? inPlace : atEnd(text, added), after);
}

/**
 * The text with a table at this path, in place of the one that is there. All other tables stay as
 * they are, with their comments.
 */
export function withTable(text: string, path: readonly [string, string], table: TomlTable): string {
  const rest = withoutTable(text, path).trimEnd();
  const [section, name] = path;
  const before = parse(rest);
  const after = { ...before, [section]: { ...tableIn(before, [section]), [name]: table } };
  const added = stringify({ [section]: { [name]: table } });
  return checked(rest === "" ? added : atEnd(rest, added), after);
}

/** The text without the table at this path and the tables below it. */
export function withoutTable(text: string, path: readonly [string, string]): string {
  const [section, name] = path;
  const before = parse(text);
  const { [name]: gone, ...others } = tableIn(before, [section]);
  if (gone === undefined) return text;
  const after = { ...before, [section]: others };
  const { [section]: _, ...bare } = before;
  const isGone = (result: unknown) =>
    Bun.deepEquals(result, after) || (Object.keys(others).length === 0 && Bun.deepEquals(result, bare));
  const cut = cutBlocks(text, path);
  if (isGone(parsedOr(cut))) return cut;
  const patched = patch(text, after);
  if (isGone(parsedOr(patched))) return patched;
  throw unwritable();
}

/**
 * A table of a text, empty if it is not there. Throws `config_invalid` for a text that is no TOML.
 */
export function tableOf(text: string, table: string): TomlTable {
  try {
    return tableIn(parse(text), [table]);
  } catch (error) {
    const why = error instanceof TomlError ? error.message.split("\n")[0] : String(error);
    throw new AppError("config_invalid", `The settings file is not valid TOML: ${why}.`, { cause: error });
  }
}

/** The tables of a text as they are written, with the text before the first. */
const blocksOf = (text: string) => text.split(/^(?=[ \t]*\[)/m);

/** Without the blocks of the table; comments after its last key belong to what follows. */
function cutBlocks(text: string, path: readonly string[]): string {
  return blocksOf(text)
    .map((block) => (isBlockOf(block, path) ? tailOf(block) : block))
    .join("");
}

/** The blank lines and comments at the end of a block. */
function tailOf(block: string): string {
  const lines = block.split("\n");
  const last = lines.findLastIndex((line) => !/^[ \t]*(?:#.*)?\r?$/.test(line));
  return lines.slice(last + 1).join("\n");
}

function isBlockOf(block: string, path: readonly string[]): boolean {
  const header = /^[ \t]*\[\[?\s*([^\]]+?)\s*\]/.exec(block)?.[1];
  if (header === undefined) return false;
  const keys = header.split(".").map((key) => key.trim().replace(/^(["'])(.*)\1$/, "$2"));
  return path.every((key, index) => keys[index] === key);
}

/** A table before the first of those below it, or at the end. */
function withBlock(text: string, table: string, added: string): string {
  const blocks = blocksOf(text);
  const at = blocks.findIndex((block) => isBlockOf(block, [table]));
  if (at < 0) return atEnd(text, added);
  return [...blocks.slice(0, at), `${added}\n`, ...blocks.slice(at)].join("");
}

const atEnd = (text: string, added: string) => `${text.trimEnd()}\n\n${added}`;

function tableIn(whole: TomlTable, path: readonly string[]): TomlTable {
  let value: unknown = whole;
  for (const key of path) value = isTable(value) ? value[key] : undefined;
  return isTable(value) ? value : {};
}

/** A text is never written unless it says exactly what was meant. */
function checked(text: string, meant: TomlTable): string {
  if (Bun.deepEquals(parsedOr(text), meant)) return text;
  throw unwritable();
}

function parsedOr(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function unwritable(): AppError {
  return new AppError(
    "conflict",
    "The settings file is written in a way that cannot be changed from here without changing more. Nothing was written; edit it by hand.",
  );
}
