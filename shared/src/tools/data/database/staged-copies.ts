import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { holdFolder } from "../../../machine/workspace/held-folder.ts";
import { saveFile } from "../../../machine/workspace/save-file.ts";
import { openRegular, ownerOf } from "../../../machine/workspace/workspace-file.ts";
import { copiedTo } from "./admit-sql.ts";
import { type SqlToken, sqlStatements } from "./sql-statements.ts";
import { quoted } from "./table-of.ts";

/** A file that SQL writes: where the workspace has it, and where the database writes it. */
export type StagedCopy = { readonly path: string; readonly staged: string };

/** Statements to run together; a file that they write is the last one's. */
export type SqlPart = { readonly sql: string; readonly copy?: StagedCopy };

/** Endings tell the database the format and the compression. */
const endings = /(?:\.[a-z0-9]{1,10}){0,2}$/i;

/**
 * SQL in parts that end where it writes a file, each of which is written into `staging` instead.
 * Expects SQL that `admitSql` has admitted.
 */
export function partsOf(sql: string, staging: string): readonly SqlPart[] {
  const statements = sqlStatements(sql) ?? [];
  const parts: SqlPart[] = [];
  let start = 0;
  for (const [at, tokens] of statements.entries()) {
    const target = copiedTo(tokens)?.[0];
    const next = statements[at + 1]?.[0]?.start;
    if (target === undefined && next !== undefined) continue;
    parts.push(
      partOf(sql.slice(start, next), target && { ...target, start: target.start - start, end: target.end - start }),
    );
    start = next ?? sql.length;
  }
  return parts.length === 0 ? [{ sql }] : parts;

  function partOf(part: string, target: SqlToken | undefined): SqlPart {
    if (target === undefined) return { sql: part };
    const { text: path, start, end } = target;
    const staged = join(staging, `${crypto.randomUUID()}${endings.exec(basename(path))?.[0] ?? ""}`);
    return { sql: part.slice(0, start) + quoted(staged, "'") + part.slice(end), copy: { path, staged } };
  }
}

/**
 * Moves a file that the database has written into the workspace. Where it belongs is judged anew,
 * by folders that are held open: names may have been exchanged since the SQL was admitted.
 */
export async function moveIn(workspace: Workspace, { path, staged }: StagedCopy): Promise<void> {
  try {
    await using folder = await holdFolder(dirname(staged), []);
    const opened = await openRegular(folder, basename(staged), path, await ownerOf(workspace)).catch(unlessWritten);
    if (opened === undefined) return;
    await using content = opened.handle;
    await saveFile(workspace, path, content.readableWebStream());
  } finally {
    await rm(staged, { force: true });
  }
}

/** EXPLAIN alone writes nothing. */
function unlessWritten(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === "not_found")) throw error;
}
