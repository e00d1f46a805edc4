import type { Tool } from "../../core/tools/tool.ts";
import { asksForTables } from "./asks-for-tables.ts";
import type { Databases } from "./database/databases.ts";
import { sqlQuery } from "./sql-query.ts";

/** `sql_query` over files alone, for an agent that computes with a table now and then. */
export function tableTools(deps: { readonly databases: Databases }): readonly Tool[] {
  return [{ ...sqlQuery(deps), family: "tables", neededFor: asksForTables }];
}
