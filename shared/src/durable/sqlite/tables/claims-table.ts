import type { Database } from "bun:sqlite";
import type { Offer } from "../../offer.ts";
import type { Moment } from "../run-clock.ts";
import type { RunRow } from "./runs-table.ts";

/** An offer as the statements take it: JSON texts. */
export type StoredOffer = { readonly [Key in "keys" | "newest"]: string };

/** A run whose body no worker has. */
export type Stranded = Pick<RunRow, "n" | "id" | "kind" | "cancel_requested"> & { readonly body: number };

/** The offer for the statements. */
export function storedOffer({ keys, newest }: Offer): StoredOffer {
  return { keys: JSON.stringify(keys), newest: JSON.stringify(newest) };
}

/** What a worker has to offer to execute a run: see `Offer`. */
const bodyKey = "kind || ' ' || ifnull(body, iif(epoch = 0, '', 1))";
const offered = "SELECT value FROM workers, json_each(workers.bodies)";

/**
 * A worker's statements over `runs`: claiming, listing what it holds, finding the next sleep that
 * ends.
 */
export function claimsTable(db: Database) {
  const due = "(status = 'queued' OR (status = 'waiting' AND due <= ?2))";
  const claimable = `${bodyKey} IN (SELECT value FROM json_each(?1)) AND ${due}`;
  const any = db.query<{ n: number }, [string, number]>(`SELECT n FROM runs WHERE ${claimable} LIMIT 1`);
  const claim = db.query<RunRow, [string, number, string, number, number, string]>(
    // A worker declared dead meanwhile gets nothing, since no one would take the run over from it.
    `UPDATE runs SET status = 'running', owner = ?3, epoch = epoch + 1, updated_at = ?5,
       due = NULL, awaited = NULL, waiting_signal = NULL, waiting_reason = NULL,
       body = iif(body IS NULL AND epoch = 0, (SELECT value FROM json_each(?6) WHERE key = kind), body)
     WHERE EXISTS (SELECT 1 FROM workers WHERE id = ?3)
     AND n IN (SELECT n FROM runs WHERE ${claimable} ORDER BY due LIMIT +?4) RETURNING *`,
  );
  const stranded = db.query<Stranded, [string, number, string]>(
    `SELECT n, id, kind, cancel_requested, ifnull(body, 1) AS body FROM runs WHERE ${due}
     AND kind IN (SELECT key FROM json_each(?1))
       AND ${bodyKey} NOT IN (SELECT value FROM json_each(?3)) AND ${bodyKey} NOT IN (${offered}) LIMIT 100`,
  );
  const continuable = db.query<{ n: number; id: string }, [string]>(
    `SELECT n, id FROM runs WHERE status = 'paused' AND error ->> '$.code' = 'version_missing'
     AND ${bodyKey} IN (SELECT value FROM json_each(?1))`,
  );
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
    any: ({ keys }: StoredOffer, { steady }: Moment) => any.get(keys, steady) !== null,
    /** Claims the oldest claimable runs for this worker, each under a new epoch. */
    claim: ({ keys, newest }: StoredOffer, owner: string, limit: number, { wall, steady }: Moment) =>
      claim.all(keys, steady, owner, limit, wall, newest),
    /** Runs of these kinds that could go on, had any worker the body they began with. */
    stranded: ({ newest, keys }: StoredOffer, { steady }: Moment) => stranded.all(newest, steady, keys),
    /** Runs that paused because no worker had the body that this one offers. */
    continuable: ({ keys }: StoredOffer) => continuable.all(keys),
    nextDue: () => nextDue.get()?.due ?? undefined,
    owned: (owner: string) => owned.all(owner),
    /** Makes everything a worker holds claimable. */
    handBack: (owner: string, { wall, steady }: Moment) => void handBack.run(steady, wall, owner),
  };
}
