import { closeAll } from "../../core/async/close-all.ts";
import { AppError } from "../../core/errors.ts";
import { type Engine, type Log, silentLog } from "../../core/runs/engine.ts";
import { changes, follow } from "../follow.ts";
import { Live } from "../live.ts";
import { recordOf } from "../run-row.ts";
import type { CrashPoint } from "./disk/crash-point.ts";
import type { SyncFile } from "./disk/file-sync.ts";
import { housekeeping } from "./housekeeping.ts";
import { indexWords } from "./index-words.ts";
import { admit, intake } from "./intake.ts";
import { logOf } from "./log.ts";
import { type MachineClock, machineClock } from "./machine-clock.ts";
import { RunClock } from "./run-clock.ts";
import { search } from "./search.ts";
import type { Tables } from "./tables/tables.ts";
import { Watch } from "./watch.ts";
import { Worker } from "./workers/worker.ts";
import { Writer } from "./writer.ts";

/** Where an embedded engine stores its runs, and its times in milliseconds. */
export type EmbeddedEngineOptions = {
  /**
   * The database file; its folder must exist. Any number of processes on one machine may share it.
   */
  readonly path: string;
  /**
   * How long a worker may be silent before another takes its runs over, unless its process is known
   * to have ended: then at once. Default 15 s.
   */
  readonly leaseMs?: number;
  /** How often to look for changes by other processes. Default 50 ms. */
  readonly pollMs?: number;
  /** How long an aborted step may take to stop before it is abandoned. Default 5 s. */
  readonly stopMs?: number;
  /** The machine's clocks. For tests of clocks that are set while runs wait. */
  readonly clock?: MachineClock;
  /** Where the causes of `internal` failures go, `console` for one. Nowhere if left out. */
  readonly log?: Log;
  /** Kills the process at this point. For tests of what survives a crash. */
  readonly crashAt?: CrashPoint;
  /** How a file is brought to the disk. For tests of what survives a loss of power. */
  readonly syncFile?: SyncFile;
};

const defaultConcurrency = 64;
const defaultGraceMs = 5000;
const lastWritesMs = 1000;

/**
 * The engine that needs nothing installed: runs, journal, events and signals in one SQLite file.
 * Throws `config_invalid` for a file of a newer version. A file that cannot be opened is retried
 * until it can; meanwhile `health` says so.
 */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): Engine {
  const { log = silentLog, leaseMs = 15_000, pollMs = 50, stopMs = 5000 } = options;
  const clock = new RunClock(options.clock ?? machineClock(), log);
  const live = new Live();
  const changedElsewhere = () => {
    live.anyChanged();
    void worker.catchUp();
  };
  const writer = new Writer({
    path: options.path,
    log,
    ...(options.crashAt && { crashAt: options.crashAt }),
    ...(options.syncFile && { syncFile: options.syncFile }),
    onOpened: (tables) => {
      const reading = tables.clock.read();
      if (reading !== null) clock.continueFrom(reading);
    },
    onCommitted: (tables) => {
      for (const runId of tables.watchers.takeSignaled()) worker.signaled(runId);
    },
    onRecovered: changedElsewhere,
  });
  const watch = new Watch({
    pollMs,
    version: () => writer.dataVersion(),
    onChange: changedElsewhere,
    onTick: () => worker.tick(),
  });
  const worker = new Worker({ writer, live, watch, log, clock, leaseMs, stopMs });

  return {
    ...intake({ writer, live, worker, clock }),
    ...housekeeping({ path: options.path, writer, live, log }),
    ...reading(writer, clock),
    follow: (runId, place) => follow(live, logOf({ writer, watch }, runId), runId, place),
    changes: (signal) => changes(live, async () => watch.need(), signal),
    work: (definitions, { concurrency = defaultConcurrency, dedicatedPool = false } = {}) =>
      worker.add(definitions, { concurrency, dedicatedPool }),
    health: () => writer.health(),
    async close({ graceMs = defaultGraceMs } = {}) {
      await closeAll(
        () => worker.close(graceMs),
        () => live.close(),
        // A follower whose reader has stalled would keep the process alive.
        () => watch.close(),
        () => writer.close(lastWritesMs),
      );
    },
  };
}

/**
 * The engine's calls that say what is stored, and the one that counts what was used beside runs.
 */
function reading(
  writer: Writer,
  clock: RunClock,
): Pick<
  Engine,
  "get" | "byKey" | "list" | "admit" | "spend" | "usage" | "search" | "indexWords" | "hasFile" | "recorded" | "events"
> {
  const known = (tables: Tables, runId: string) => {
    const run = tables.runs.head(runId);
    if (run === null) throw new AppError("not_found", `There is no run ${runId}.`);
    return run;
  };
  return {
    get: async (runId, principal) => {
      const row = await writer.read(({ runs }) =>
        principal === undefined ? runs.byId(runId) : runs.ofPrincipal(runId, principal),
      );
      return row === null ? undefined : recordOf(row);
    },
    byKey: async (principal, key) => {
      const row = await writer.read(({ runs }) => runs.byKey(principal, key));
      return row === null ? undefined : recordOf(row);
    },
    list: async (filter) => {
      const { rows, ...page } = await writer.read((tables) => {
        const among = filter.words && tables.search.candidates(filter.words);
        return tables.listing.page(filter, among);
      });
      return { runs: rows.map(recordOf), ...page };
    },
    admit: (request) => writer.read((tables) => admit(tables, request, clock.moment())),
    spend: (principal, used) => writer.write((tables) => tables.usage.spend(principal, used, clock.moment().wall)),
    usage: (principal) => writer.read((tables) => tables.usage.of(principal, clock.moment().wall)),
    search: (runIds, words) => search(writer, runIds, words),
    indexWords: () => indexWords(writer),
    hasFile: (principal, sha256) => writer.read((tables) => tables.files.has(principal, sha256)),
    recorded: (runId, field) => writer.read((tables) => tables.journal.recorded(known(tables, runId).n, field)),
    events: (runId, after = 0, last = Number.MAX_SAFE_INTEGER) =>
      writer.read((tables) => tables.events.after(known(tables, runId), after, Math.max(0, last - after))),
  };
}
