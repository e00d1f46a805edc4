import { namedFiles } from "./named-files.ts";
import { sqlStatements } from "./sql-statements.ts";
import { quoted } from "./table-of.ts";

const maxFiles = 200;
const pattern = /[*?[]/;

/** What is asked of the files that a pattern stands for. */
export type GlobFiles = {
  /** The files that a pattern names. */
  readonly list: (pattern: string) => Promise<readonly string[]>;
  /** Whether a file is no file of the user's. */
  readonly isOurs: (name: string) => boolean;
  /** Whether a file is read through a copy, or, by its bare name, through more than its name. */
  readonly needsCopy: (name: string) => Promise<boolean>;
  readonly needsMore: (name: string) => Promise<boolean>;
};

/**
 * A statement that names each file of its patterns (`FROM 'folder/*.csv'`) where one of them is not
 * read as the database itself would, and what a reader has to know of patterns that are left.
 */
export async function expandGlobs(
  sql: string,
  { list, isOurs, needsCopy, needsMore }: GlobFiles,
): Promise<{ readonly sql: string; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  const words = new Set((sqlStatements(sql) ?? []).flat().map(({ text }) => text));
  const column = words.has("filename") ? (name: string) => `SELECT *, ${quoted(name, "'")} AS filename ` : () => "";
  let expanded = sql;
  const globs = namedFiles(sql).filter(({ text, isCopy }) => pattern.test(text) && !isCopy);
  for (const { text, start, end, isTable } of globs.toSorted((one, other) => other.start - one.start)) {
    const all = await list(text);
    const files = all.filter((name) => !isOurs(name));
    if (files.length > maxFiles)
      notes.push(
        `${text} are ${files.length} files, more than ${maxFiles}: they are read as UTF-8 from their first line.`,
      );
    const isNeeded = files.length < all.length || (files.length <= maxFiles && (await some(files, isTable)));
    if (!isNeeded || files.length === 0) continue;
    const named = isTable
      ? `(${files.map((name) => `(${column(name)}FROM ${quoted(name, "'")})`).join(" UNION ALL BY NAME ")})`
      : listed(files, sql.slice(0, start).trimEnd());
    expanded = expanded.slice(0, start) + named + expanded.slice(end);
  }
  return { sql: expanded, notes };

  async function some(files: readonly string[], isTable: boolean): Promise<boolean> {
    for (const name of files) if ((await needsCopy(name)) || (isTable && (await needsMore(name)))) return true;
    return false;
  }
}

/** The files as a call takes them, within its list or instead of its one name. */
function listed(files: readonly string[], before: string): string {
  const names = files.map((name) => quoted(name, "'")).join(", ");
  return /[[,]$/.test(before) ? names : `[${names}]`;
}
