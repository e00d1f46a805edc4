import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { isProtected } from "../../../machine/workspace/protected-names.ts";
import { workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import type { SqlToken } from "./sql-statements.ts";

/** The options of a COPY that writes one file, under the name it is given. */
const oneFile = new Set(
  "array as codec compression compression_level csv dateformat date_format delim delimiter dictionary_size_limit encoding escape field_ids force force_quote format header kv_metadata new_line null nullstr parquet_version prefix preserve_order quote row_group_size row_group_size_bytes sep string_dictionary_page_size_limit suffix timestampformat timestamp_format with".split(
    " ",
  ),
);

/**
 * Admits what follows the TO of a COPY. The database chooses the names of the files that it writes
 * into a folder, so it writes one file at a time.
 */
export async function admitCopied(workspace: Workspace, [path, ...options]: readonly SqlToken[]): Promise<void> {
  const name = plainName(path, options[0]);
  const other = optionsOf(options).find(({ kind, text }) => kind !== "word" || !oneFile.has(text));
  if (other !== undefined)
    throw new AppError(
      "rejected",
      `${other.written.slice(0, 40)} is not for here: COPY writes one file. For parts, one COPY each.`,
    );
  await refuseProtected(workspace, name);
}

/**
 * Admits what follows an ATTACH: a database in memory, or a file that is only read. Beside a file
 * that it changes, the database writes others, whenever it likes.
 */
export async function admitAttached(workspace: Workspace, [path, ...rest]: readonly SqlToken[]): Promise<void> {
  const name = plainName(path, rest[0]);
  if (name === ":memory:") return;
  await refuseProtected(workspace, name);
  const options = rest.slice(rest.findIndex(({ text }) => text === "(")).map(({ text }) => text);
  if (!/^\( read_only( true)? \)$/.test(options.join(" ")))
    throw new AppError(
      "rejected",
      `A database's file is only read here: ATTACH 'file.db' AS name (READ_ONLY). COPY … TO 'file.parquet' keeps what you make.`,
    );
}

/** The names of the options, with whatever else stands where one does. */
function optionsOf(tokens: readonly SqlToken[]): readonly SqlToken[] {
  let depth = 0;
  const names: SqlToken[] = [];
  for (const [at, token] of tokens.entries()) {
    const isMark = token.kind === "other";
    if (isMark && token.text === ")") depth--;
    const before = tokens[at - 1]?.text ?? "";
    // Without parentheses, options follow one another.
    const isFirst = depth === 1 ? before === "(" || before === "," : depth === 0 && token.kind === "word";
    if (isFirst && !(isMark && token.text === ")")) names.push(token);
    if (isMark && token.text === "(") depth++;
  }
  return names;
}

function plainName(path: SqlToken | undefined, next: SqlToken | undefined): string {
  // The database joins two consecutive string literals.
  if (path?.kind !== "literal" || next?.kind === "literal")
    throw new AppError("rejected", "Give the file's name as one plain text in single quotes: COPY … TO 'file.csv'.");
  return path.text;
}

/**
 * Refuses names that other programs obey, those of links that lead to such a name or to nothing,
 * and those that the database reads otherwise than this.
 */
async function refuseProtected(workspace: Workspace, path: string): Promise<void> {
  if (/^(~|[a-z][\w+.-]*:\/)/i.test(path))
    throw new AppError("rejected", `Give the path of ${path.slice(0, 200)} as it is in the workspace.`);
  const { relative } = await workspacePathOf(workspace, path);
  if ([path, relative].some((name) => isProtected(name.replace(/(?<![\s.])[\s.]+$/, ""))))
    throw new AppError(
      "rejected",
      `The path ${path} is protected: what is in it would take effect outside the sandbox.`,
    );
}
