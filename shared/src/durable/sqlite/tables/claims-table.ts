import type { Database } from "bun:sqlite";
import type { Moment } from "../run-clock.ts";
import type { RunRow } from "./runs-table.ts";

/**
 * A worker's statements over `runs`: claiming, listing what it holds, finding the next sleep that
 * ends.
 */
export function claimsTable(db: Database) {
  const claimable = `kind IN (SELECT value FROM json_each(?1))
    AND (status = 'queued' OR (status = 'waiting' AND due <= ?2))`;
  // A worker declared dead meanwhile gets nothing, since no one would take the run over from it.
  const own = `UPDATE runs SET status = 'running', owner = ?3, epoch = epoch + 1, updated_at = ?5,
       due = NULL, awaited = NULL, waiting_signal = NULL, waiting_reason = NULL
     WHERE EXISTS (SELECT 1 FROM workers WHERE id = ?3)`;
  const any = db.query<{ n: number }, [string, number]>(`SELECT n FROM runs WHERE ${claimable} LIMIT 1`);
  const claim = db.query<RunRow, [string, number, string, number, number]>(
    `${own} AND n IN (SELECT n FROM runs WHERE ${claimable} ORDER BY due LIMIT ?4) RETURNING *`,
  );
  const take = db.query<RunRow, [number, null, string, null, number]>(`${own} AND n = ?1 RETURNING *`);
  const nextDue = db.query<{ due: number | null }, []>(
    "SELECT min(due) AS due FROM runs WHERE status = 'waiting' AND due IS NOT NULL",
  );
  const owned = db.query<{ id: string; epoch: number; cancel_requested: number }, [string]>(
    "SELECT id, epoch, cancel_requested FROM runs WHERE owner = ?",
  );
  const handBack = db.query<null, [number, number, string]>(
    "UPDATE runs SET status = 'queued', owner = NULL, due = ?, updated_at = ? WHERE owner = ?",
  );
  return {
    any: (kinds: string, { steady }: Moment) => any.get(kinds, steady) !== null,
    /** Claims the oldest claimable runs for this worker, each under a new epoch. */
    claim: (kinds: string, owner: string, limit: number, { wall, steady }: Moment) =>
      claim.all(kinds, steady, owner, limit, wall),
    /** Claims a run accepted in the same transaction; null if the worker was declared dead. */
    take: (n: number, owner: string, { wall }: Moment) => take.get(n, null, owner, null, wall),
    nextDue: () => nextDue.get()?.due ?? undefined,
    owned: (owner: string) => owned.all(owner),
    /** Makes everything a worker holds claimable. */
    handBack: (owner: string, { wall, steady }: Moment) => void handBack.run(steady, wall, owner),
  };
}
