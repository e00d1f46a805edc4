import type { Database } from "bun:sqlite";
import type { Offer } from "../../offer.ts";
import type { Moment } from "../run-clock.ts";
import type { KnownRuns } from "./known-runs.ts";
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
const due = (now: string) => `(status = 'queued' OR (status = 'waiting' AND due <= ${now}))`;
const claimable = (keys: string, now: string) => `${bodyKey} IN (SELECT value FROM json_each(${keys})) AND ${due(now)}`;

/**
 * A worker's statements over `runs`: claiming, listing what it holds, finding the next sleep that
 * ends.
 */
export function claimsTable(db: Database, knownRuns: KnownRuns) {
  const any = db.query<{ n: number }, [string, number]>(`SELECT n FROM runs WHERE ${claimable("?1", "?2")} LIMIT 1`);
  const count = db.query<{ count: number }, [string, number, number]>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM runs WHERE ${claimable("?1", "?2")} LIMIT +?3)`,
  );
  // A worker declared dead meanwhile gets nothing, since no one would take the run over from it.
  const taken = `UPDATE runs SET status = 'running', owner = ?1, epoch = epoch + 1, updated_at = ?2,
       due = NULL, awaited = NULL, waiting_signal = NULL, waiting_reason = NULL,
       body = iif(body IS NULL AND epoch = 0, (SELECT value FROM json_each(?3) WHERE key = kind), body)
     WHERE EXISTS (SELECT 1 FROM workers WHERE id = ?1)`;
  const claimAll = db.query<RunRow, [string, number, string, string, number]>(
    `${taken} AND n IN (SELECT n FROM runs WHERE ${claimable("?4", "?5")}) RETURNING *`,
  );
  const claimOne = db.query<RunRow, [string, number, string, number]>(`${taken} AND n = ?4 RETURNING *`);
  const ripen = db.query<null, [string, number]>(
    `UPDATE runs SET status = 'queued' WHERE status = 'waiting' AND due <= ?2 AND ${bodyKey} IN (SELECT value FROM json_each(?1))`,
  );
  const next = db.query<{ n: number; principal: string }, [string, string, string]>(
    `SELECT n, principal FROM runs WHERE status = 'queued' AND kind = ?2 AND principal > ?3
       AND ${bodyKey} IN (SELECT value FROM json_each(?1)) ORDER BY principal, due LIMIT 1`,
  );
  const stranded = db.query<Stranded, [string, number, string]>(
    `SELECT n, id, kind, cancel_requested, ifnull(body, 1) AS body FROM runs WHERE ${due("?2")}
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
    /**
     * Claims runs for this worker, each under a new epoch: all that are claimable, or as many as
     * there is room for. Then principals take turns, in the order of their names, the one after
     * `served` first; each has its oldest run claimed. Looks at one run for each that it claims,
     * however many wait.
     */
    claim(
      { keys, newest }: StoredOffer,
      owner: string,
      limit: number,
      { wall, steady }: Moment,
      served = "",
    ): RunRow[] {
      if ((count.get(keys, steady, limit + 1)?.count ?? 0) <= limit)
        return claimAll.all(owner, wall, newest, keys, steady);
      ripen.run(keys, steady);
      const kinds = Object.keys(JSON.parse(newest));
      const claimed: RunRow[] = [];
      for (let last = served; claimed.length < limit; ) {
        const found = kinds.flatMap((kind) => next.get(keys, kind, last) ?? []);
        const [first] = found.toSorted((one, other) => (one.principal < other.principal ? -1 : 1));
        if (first === undefined && last === "") break;
        last = first?.principal ?? "";
        const row = first && claimOne.get(owner, wall, newest, first.n);
        if (row === null) break;
        if (row !== undefined) claimed.push(row);
      }
      return claimed;
    },
    /** Runs of these kinds that could go on, had any worker the body they began with. */
    stranded: ({ newest, keys }: StoredOffer, { steady }: Moment) => stranded.all(newest, steady, keys),
    /** Runs that paused because no worker had the body that this one offers. */
    continuable: ({ keys }: StoredOffer) => continuable.all(keys),
    nextDue: () => nextDue.get()?.due ?? undefined,
    owned: (owner: string) => owned.all(owner),
    /** Makes everything a worker holds claimable. */
    handBack(owner: string, { wall, steady }: Moment): void {
      knownRuns.forgetAll();
      handBack.run(steady, wall, owner);
    },
  };
}
