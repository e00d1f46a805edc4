import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { admitAttached, admitCopied } from "./admit-file.ts";
import { type SqlToken, sqlStatements } from "./sql-statements.ts";

/** The first words of statements that work on data. */
const dataWork = new Set(
  "abort alter analyze attach begin comment commit copy create delete desc describe detach drop end explain from insert merge pivot pivot_longer pivot_wider rollback select show start summarize table truncate unpivot update use values with (".split(
    " ",
  ),
);

const pragmas = new Set([
  "database_list",
  "database_size",
  "show_tables",
  "show_tables_expanded",
  "storage_info",
  "table_info",
  "version",
]);

/**
 * Admits SQL whose statements work on data. Rejects with `rejected` when a statement changes how
 * the database itself works (its settings, its logs, extensions, prepared statements), and when a
 * file is written that is not one file under a plain name, or that other programs obey.
 */
export async function admitSql(workspace: Workspace, sql: string): Promise<void> {
  const statements = sqlStatements(sql);
  if (statements === undefined)
    throw new AppError("rejected", "Something in the SQL is opened and never closed: a quote or a comment.");
  for (const tokens of statements) await admitStatement(workspace, tokens);
}

async function admitStatement(workspace: Workspace, tokens: readonly SqlToken[]): Promise<void> {
  const [first, second, third] = tokens;
  const verb = first?.text ?? "";
  if (verb === "explain") return admitStatement(workspace, explained(tokens));
  const isVariable = (verb === "set" || verb === "reset") && second?.text === "variable" && third?.kind === "word";
  const isLook = verb === "pragma" && pragmas.has(second?.text ?? "");
  if (first?.kind === "literal" || !(dataWork.has(verb) || isVariable || isLook))
    throw notDataWork(first?.kind === "word" ? verb : "");
  const copied = copiedTo(tokens);
  if (copied !== undefined) await admitCopied(workspace, copied);
  if (verb === "attach") await admitAttached(workspace, afterAttach(tokens));
}

/** The tokens after the TO of a COPY that writes, also of one that EXPLAIN executes. */
export function copiedTo(tokens: readonly SqlToken[]): readonly SqlToken[] | undefined {
  const verb = tokens[0]?.text;
  if (verb === "explain") return copiedTo(explained(tokens));
  return verb === "copy" ? afterTo(tokens) : undefined;
}

/** The first words of statements that do anything else. */
const otherWork = new Set(
  "call checkpoint deallocate execute export force import install load pragma prepare reset set vacuum".split(" "),
);

function notDataWork(verb: string): AppError {
  const said = verb.toUpperCase().slice(0, 40);
  if (!otherWork.has(verb))
    return new AppError("rejected", `${said || "This"} begins no statement that is known here.`);
  const what =
    verb === "export" || verb === "import" ? "COPY … TO 'file.parquet' writes what a later query reads with FROM." : "";
  return new AppError(
    "rejected",
    `${said} is not for here: statements read and change data, they do not change how the database works. ${what}`.trim(),
  );
}

/** The statement inside EXPLAIN, with or without ANALYZE and options: ANALYZE executes it. */
function explained(tokens: readonly SqlToken[]): readonly SqlToken[] {
  let rest = tokens.slice(1);
  if (rest[0]?.text === "analyze" || rest[0]?.text === "verbose") rest = rest.slice(1);
  if (rest[0]?.text !== "(") return rest;
  const end = rest.findIndex(({ kind, text }) => kind === "other" && text === ")");
  const behind = rest.slice(end + 1);
  // `EXPLAIN (SELECT …)` has no options, and nothing after the parentheses.
  return behind.length === 0 || end < 0 ? rest : behind;
}

/** The tokens after the TO of a COPY; empty when it reads. */
function afterTo(tokens: readonly SqlToken[]): readonly SqlToken[] | undefined {
  let depth = 0;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind === "other" && text === "(") depth++;
    if (kind === "other" && text === ")") depth--;
    if (kind === "word" && text === "to" && depth === 0) return tokens.slice(at + 1);
  }
  return undefined;
}

function afterAttach(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const words = new Set(["attach", "database", "or", "replace", "if", "not", "exists"]);
  return tokens.slice(tokens.findIndex(({ kind, text }) => kind !== "word" || !words.has(text)));
}
