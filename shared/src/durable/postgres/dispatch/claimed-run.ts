import type { Json } from "../../../core/json.ts";
import type { RunEvent } from "../../../core/runs/run.ts";
import type { JournalRow, RunStore, WaitAnswer } from "../../replay/run-store.ts";
import { type CommitsOptions, commitsOf } from "../commits.ts";
import { toldEvents } from "../told-events.ts";

/** What the run store of one claim needs. */
export type ClaimedRunOptions = CommitsOptions & {
  /** The run was parked, perhaps until a time on the clock of runs. */
  readonly onParked: (wakeAt: number | undefined) => void;
};

type StoredRow = { [Key in keyof JournalRow]: string | null };

/** The run store of one claim. */
export function claimedRun(options: ClaimedRunOptions): RunStore {
  const { claim, database } = options;
  const write = commitsOf(options);
  return {
    load: () => journalOf(options),
    async leaseState() {
      const [row] = await database.query<{ canceled: boolean }>(
        "SELECT cancel_requested AS canceled FROM heads WHERE run = $1 AND owner = $2 AND epoch = $3",
        [claim.n, claim.owner, claim.epoch],
        // A process that hung, or was cut off, while the database was away may not go on by guess.
        { keep: true },
      );
      if (row === undefined) return "lost";
      return row.canceled ? "canceled" : "held";
    },
    record: (row, events) => write(() => ({ do: "record", row: stored(row), ...told(events) })),
    async wait({ begin, wanted, park }) {
      const answer = await write<WaitAnswer>(() => ({
        do: "wait",
        begin: begin.map(({ row }) => stored(row)),
        wanted: wanted().map(({ path, name }) => ({ path, name })),
        park: park as Json | undefined,
        ...told(begin.flatMap(({ events }) => events)),
      }));
      if (answer.parked) options.onParked(park?.wakeAt);
      return answer;
    },
    async hasSignal(name) {
      const rows = await database.query(
        "SELECT 1 FROM signals WHERE run = $1 AND name = $2 AND taken_by IS NULL LIMIT 1",
        [claim.n, name],
      );
      return rows.length > 0;
    },
    takeAll: (row) => write(() => ({ do: "take", row: stored(row) })),
    giveBack: (path) => write(() => ({ do: "give", path })),
    end: (ending) =>
      write(() => ({
        do: "end",
        ending: {
          status: ending.status,
          ...(ending.status === "completed" && { output: JSON.stringify(ending.output) }),
          ...(ending.status === "failed" && { error: JSON.stringify(ending.error) }),
        },
      })),
    pause: (error) =>
      write(() => ({ do: "pause", error: JSON.stringify(error), ...told([{ type: "run-paused", error }]) }), {
        afterFault: true,
      }),
    release: () => write(() => ({ do: "release" })),
    hurry() {},
  };
}

async function journalOf({ claim, database }: ClaimedRunOptions): Promise<readonly JournalRow[]> {
  const rows = await database.query<StoredRow>(
    "SELECT path, kind, name, state, out, error FROM journal WHERE run = $1",
    [claim.n],
    { keep: true },
  );
  return rows.map(
    ({ out, error, ...row }) =>
      ({
        ...row,
        ...(out === null ? {} : { out }),
        ...(error === null ? {} : { error: JSON.parse(String(error)) }),
      }) as JournalRow,
  );
}

function stored({ error, ...row }: JournalRow): { readonly [field: string]: Json } {
  return { ...row, ...(error === undefined ? {} : { error: JSON.stringify(error) }) };
}

function told(events: readonly RunEvent[] | undefined): { readonly told?: Json } {
  const all = toldEvents(events);
  return all === undefined ? {} : { told: all as Json };
}
