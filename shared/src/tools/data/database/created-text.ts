import { AppError } from "../../../core/errors.ts";
import type { QueryResult } from "./database-protocol.ts";
import { cellText } from "./result-text.ts";
import { sqlStatements } from "./sql-statements.ts";

const maxCreated = 5;
const maxColumns = 40;

/**
 * A sentence for each table and view that the SQL creates, as it is now: its columns, and of a
 * table its rows, which the database knows without reading them.
 */
export async function createdText(sql: string, query: (sql: string) => Promise<QueryResult>): Promise<string[]> {
  const sentences: string[] = [];
  for (const { kind, name } of createdBy(sql).slice(0, maxCreated)) {
    try {
      const { rows, total } = await query(`DESCRIBE ${name}`);
      const columns = rows.slice(0, maxColumns).map(([column, type]) => `${cellText(column)} ${cellText(type)}`);
      const more = total > columns.length ? `, … ${total - columns.length} more` : "";
      const count = kind === "table" ? (await query(`SELECT count(*) FROM ${name}`)).rows[0]?.[0] : undefined;
      const held = count === undefined ? "" : `${count} ${String(count) === "1" ? "row" : "rows"} and `;
      sentences.push(`The ${kind} ${name} has ${held}the columns ${columns.join(", ")}${more}.`);
    } catch (error) {
      // A later statement may have dropped it.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return sentences;
}

const before = new Set(["create", "or", "replace", "temp", "temporary"]);

/** The tables and views that statements create, named as they name them. */
function createdBy(sql: string): readonly { readonly kind: "table" | "view"; readonly name: string }[] {
  return (sqlStatements(sql) ?? []).flatMap((tokens) => {
    if (tokens[0]?.text !== "create") return [];
    const at = tokens.findIndex(({ text }) => !before.has(text));
    const kind = tokens[at]?.text;
    if (kind !== "table" && kind !== "view") return [];
    const rest = tokens.slice(tokens[at + 1]?.text === "if" ? at + 4 : at + 1);
    let end = 1;
    while (rest[end]?.text === ".") end += 2;
    const name = rest.slice(0, end).map(({ written }) => written);
    return [{ kind, name: name.join("") }];
  });
}
