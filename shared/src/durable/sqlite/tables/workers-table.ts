import type { Database } from "bun:sqlite";
import type { ProcessIdentity } from "../process-identity.ts";

/** A worker with its heartbeat counter, which only ever grows. */
export type WorkerRow = { readonly id: string; readonly beat: number } & ProcessIdentity;

/** Statements over `workers`: each worker's heartbeat counter and its process. */
export function workersTable(db: Database) {
  const insert = db.query<null, [string, string, number, string]>(
    "INSERT INTO workers (id, host, pid, process_start) VALUES (?, ?, ?, ?)",
  );
  const offer = db.query<null, [string, string]>("UPDATE workers SET bodies = ? WHERE id = ?");
  const beat = db.query<{ beat: number }, [string]>("UPDATE workers SET beat = beat + 1 WHERE id = ? RETURNING beat");
  const all = db.query<{ id: string; beat: number; host: string; pid: number; process_start: string }, []>(
    "SELECT id, beat, host, pid, process_start FROM workers",
  );
  const remove = db.query<{ id: string }, [string, number]>(
    "DELETE FROM workers WHERE id = ? AND beat = ? RETURNING id",
  );
  const leave = db.query<null, [string]>("DELETE FROM workers WHERE id = ?");
  return {
    insert: (id: string, who: ProcessIdentity) => void insert.run(id, who.host, who.pid, who.processStart),
    /** Tells what the worker can execute: the keys of its offer, as JSON. */
    offer: (id: string, keys: string) => void offer.run(keys, id),
    /** False if the worker was declared dead. */
    beat: (id: string) => beat.get(id) !== null,
    all: (): WorkerRow[] => all.all().map(({ process_start, ...row }) => ({ ...row, processStart: process_start })),
    /** Declares a worker dead if its counter has not moved since; otherwise returns false. */
    removeUnmoved: (id: string, seenBeat: number) => remove.get(id, seenBeat) !== null,
    remove: (id: string) => void leave.run(id),
  };
}
