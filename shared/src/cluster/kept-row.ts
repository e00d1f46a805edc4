import { createKeyedQueue } from "../core/async/keyed-queue.ts";
import type { KeptText } from "../core/text/kept-text.ts";
import type { Database } from "../durable/postgres/database.ts";

type Row = { readonly body: string; readonly version: string };

/** The text of a row that every process with this database uses. */
export function keptRow(database: Database, name: string): KeptText {
  const queue = createKeyedQueue();
  const row = async (column: "body" | "version") => {
    const [found] = await database.query<Row>(`SELECT ${column} FROM kept_texts WHERE name = $1`, [name]);
    return found?.[column];
  };
  return {
    read: () => row("body"),
    version: async () => String((await row("version")) ?? ""),
    // In turn, so that many changes here take one connection.
    change: (next) =>
      queue("change", () =>
        database.transaction(async (run) => {
          await run("SELECT pg_advisory_xact_lock(hashtextextended($1, 6))", [name]);
          const [now] = await run<Row>("SELECT body FROM kept_texts WHERE name = $1", [name]);
          await run(
            `INSERT INTO kept_texts VALUES ($1, $2, 1)
             ON CONFLICT (name) DO UPDATE SET body = excluded.body, version = kept_texts.version + 1`,
            [name, next(now?.body)],
          );
        }),
      ),
    alone: (task, work) =>
      queue("alone", () =>
        database.transaction(async (run) => {
          await run("SELECT pg_advisory_xact_lock(hashtextextended($1, 7))", [`${name} ${task}`]);
          return work();
        }),
      ),
  };
}

/** Removes the row between other changes of it. False if there was none. */
export async function removeRow(database: Database, name: string): Promise<boolean> {
  return await database.transaction(async (run) => {
    await run("SELECT pg_advisory_xact_lock(hashtextextended($1, 6))", [name]);
    const gone = await run<{ name: string }>("DELETE FROM kept_texts WHERE name = $1 RETURNING name", [name]);
    return gone.length > 0;
  });
}

/** The names of the rows that begin so. */
export async function rowNames(database: Database, prefix: string): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    "SELECT name FROM kept_texts WHERE starts_with(name, $1) ORDER BY name",
    [prefix],
  );
  return rows.map(({ name }) => name);
}
