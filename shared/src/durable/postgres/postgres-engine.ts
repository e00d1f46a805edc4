import { type Engine, type Log, silentLog } from "../../core/engine.ts";
import { Live } from "../live.ts";
import { Database } from "./database.ts";
import { DatabaseClock } from "./database-clock.ts";
import type { Dispatcher, DispatcherDeps } from "./dispatcher.ts";
import { Executor } from "./executor.ts";
import { eventsOf, follow } from "./follow.ts";
import { housekeeping } from "./housekeeping.ts";
import { intake } from "./intake.ts";
import { LeaseDispatcher } from "./lease-dispatcher.ts";
import { list } from "./listing.ts";
import { News } from "./news.ts";
import { type RunRow, recordOf } from "./run-row.ts";
import { migrate } from "./schema/migrate.ts";

/** Where an engine on PostgreSQL stores its runs, and its times in milliseconds. */
export type PostgresEngineOptions = {
  /** `postgres://user:password@host:port/database`; a connection that can LISTEN. */
  readonly url: string;
  /** Default "manyhands". */
  readonly schema?: string;
  /** Most connections at once; two more listen and show that this process is alive. Default 10. */
  readonly connections?: number;
  /** How long a worker may hang before another takes its runs over. Default 15 s. */
  readonly leaseMs?: number;
  /** How often to look for what nobody told. Default 2 s. */
  readonly pollMs?: number;
  /** How long an aborted step may take to stop before it is abandoned. Default 5 s. */
  readonly stopMs?: number;
  readonly log?: Log;
};

const defaultConnections = 10;
const ownConnections = 2;
const defaultConcurrency = 64;
const defaultGraceMs = 5000;

/**
 * Creates the schema of `createPostgresEngine` or brings it up to date. Rejects with
 * `config_invalid` for a schema of a newer version, with `storage_unavailable` without a database.
 */
export async function migratePostgres(options: Pick<PostgresEngineOptions, "url" | "schema">): Promise<void> {
  const database = new Database({ ...options, schema: schemaOf(options), connections: 1, log: silentLog });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

/** The version of the server. Rejects with `storage_unavailable` without one. */
export async function postgresVersion({ url }: Pick<PostgresEngineOptions, "url">): Promise<string> {
  const database = new Database({ url, schema: "public", connections: 1, log: silentLog });
  try {
    const [row] = await database.query<{ version: string }>("SELECT current_setting('server_version') AS version");
    return row?.version ?? "unknown";
  } finally {
    await database.close();
  }
}

/**
 * The engine for several machines: runs, journal, events and signals in a PostgreSQL schema that
 * `migratePostgres` made. Progress reaches the followers in the process that executes the run.
 */
export function createPostgresEngine(options: PostgresEngineOptions): Engine {
  return engineOn(options, (deps) => new LeaseDispatcher(deps));
}

/** An engine whose runs are in PostgreSQL and are shared out by this dispatcher. */
export function engineOn(
  options: PostgresEngineOptions,
  createDispatcher: (deps: DispatcherDeps) => Dispatcher,
): Engine {
  const { url, log = silentLog, leaseMs = 15_000, pollMs = 2_000, stopMs = 5_000 } = options;
  const connections = (options.connections ?? defaultConnections) + ownConnections;
  const database = new Database({ url, schema: schemaOf(options), connections, log });
  const clock = new DatabaseClock();
  const live = new Live();
  const news = new News({
    ...{ database, live, log, pollMs },
    onNews({ runIds, isClaimable }) {
      executor.catchUp(runIds).catch(() => undefined);
      if (isClaimable) dispatcher.news();
    },
  });
  const executor: Executor = new Executor({
    ...{ database, clock, live, news, log, stopMs },
    onRunnable(runId, due) {
      if (due !== undefined || !executor.nudge(runId)) dispatcher.runnable(runId, due);
    },
  });
  const dispatcher = createDispatcher({ database, clock, executor, news, log, leaseMs });
  let isClosing = false;

  return {
    ...intake({ database, news, executor, dispatcher }),
    async get(runId, principal) {
      const rows =
        principal === undefined
          ? await database.query<RunRow>("SELECT * FROM run_rows WHERE id = $1", [runId])
          : await database.query<RunRow>("SELECT * FROM run_rows WHERE id = $1 AND principal = $2", [runId, principal]);
      return rows[0] === undefined ? undefined : recordOf(rows[0]);
    },
    list: (filter) => list(database, filter),
    async spend(principal, { tokens, usd }) {
      await database.query("SELECT spend($1, $2::bigint, $3::float8)", [principal, tokens, usd], { keep: true });
    },
    async usage(principal) {
      const [row] = await database.query<{ use: string }>("SELECT usage_of($1)::text AS use", [principal]);
      const { now: _, ...use } = JSON.parse(row?.use ?? "null");
      return use;
    },
    async hasFile(principal, sha256) {
      const rows = await database.query("SELECT 1 FROM files WHERE principal = $1 AND sha256 = $2", [
        principal,
        sha256,
      ]);
      return rows.length > 0;
    },
    events: (runId, after = 0, last = Number.MAX_SAFE_INTEGER) => eventsOf(database, runId, after, last),
    follow: (runId, { after = 0, signal }) => follow({ database, live, news }, runId, after, signal),
    work(definitions, { concurrency = defaultConcurrency, dedicatedPool = false } = {}) {
      const pool = executor.add(definitions, { concurrency, dedicatedPool });
      void news.listen();
      dispatcher.serve(pool);
    },
    ...housekeeping({ database, news, log }),
    health: () => database.health(),
    async close({ graceMs = defaultGraceMs } = {}) {
      if (isClosing) return;
      isClosing = true;
      await executor.drain(graceMs, () => dispatcher.isIdle);
      await dispatcher.close();
      live.close();
      await news.close();
      await database.close();
    },
  };
}

function schemaOf({ schema = "manyhands" }: Pick<PostgresEngineOptions, "schema">): string {
  return schema;
}
