import type { Database } from "bun:sqlite";

/** Statements over `signals`. A signal is taken by the operation at a path, once. */
export function signalsTable(db: Database) {
  const insert = db.query<{ n: number }, [number, string, string, string]>(
    "INSERT INTO signals (run, name, id, payload) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING n",
  );
  const known = db.query<{ n: number }, [number, string, string]>(
    "SELECT n FROM signals WHERE run = ? AND name = ? AND id = ?",
  );
  const takeFirst = db.query<{ payload: string }, [string, number, string]>(
    `UPDATE signals SET taken_by = ? WHERE n =
       (SELECT n FROM signals WHERE run = ? AND name = ? AND taken_by IS NULL ORDER BY n LIMIT 1) RETURNING payload`,
  );
  const free = db.query<{ n: number; payload: string }, [number, string]>(
    "SELECT n, payload FROM signals WHERE run = ? AND name = ? AND taken_by IS NULL ORDER BY n",
  );
  const take = db.query<null, [string, number]>("UPDATE signals SET taken_by = ? WHERE n = ?");
  const giveBack = db.query<null, [number, string]>(
    "UPDATE signals SET taken_by = NULL WHERE run = ? AND taken_by = ?",
  );
  return {
    /** False if a signal of this name and id is already stored. */
    insert: (run: number, name: string, id: string, payload: string) => insert.get(run, name, id, payload) !== null,
    has: (run: number, name: string, id: string) => known.get(run, name, id) !== null,
    isFree: (run: number, name: string) => free.get(run, name) !== null,
    /** The payload of the first untaken signal, if any. */
    takeFirst: (run: number, name: string, path: string) => takeFirst.get(path, run, name)?.payload,
    /** The payloads of all untaken signals, in order of arrival. */
    takeAll(run: number, name: string, path: string): string[] {
      return free.all(run, name).map(({ n, payload }) => {
        take.run(path, n);
        return payload;
      });
    },
    giveBack: (run: number, path: string) => void giveBack.run(run, path),
  };
}

/** The statements of `signalsTable`. */
export type SignalsTable = ReturnType<typeof signalsTable>;
