import { closeAll } from "../../core/async/close-all.ts";
import { logBug } from "../../core/async/log-bug.ts";
import { type Engine, type Log, silentLog } from "../../core/runs/engine.ts";
import { changes, follow } from "../follow.ts";
import { Live } from "../live.ts";
import { HeldConversations } from "./conversations.ts";
import { Database } from "./database.ts";
import { DatabaseClock } from "./database-clock.ts";
import type { Dispatcher, DispatcherDeps } from "./dispatch/dispatcher.ts";
import { Executor } from "./dispatch/executor.ts";
import { LeaseDispatcher } from "./dispatch/lease-dispatcher.ts";
import { housekeeping } from "./housekeeping.ts";
import { intake } from "./intake.ts";
import { logOf } from "./log.ts";
import { News } from "./news.ts";
import { reading } from "./reading.ts";
import { migrate } from "./schema/migrate.ts";
import { SharedProgress } from "./shared-progress.ts";

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
  /** How often to look for changes that no notification announced. Default 2 s. */
  readonly pollMs?: number;
  /**
   * How long the server may leave a statement unanswered before its connection counts as lost.
   * Default 20 s.
   */
  readonly silenceMs?: number;
  /** How long an aborted step may take to stop before it is abandoned. Default 5 s. */
  readonly stopMs?: number;
  /** Where the causes of `internal` failures go, `console` for one. Nowhere if left out. */
  readonly log?: Log;
};

const defaultConnections = 10;
/** How long what is said at last may take. */
const lastWordsMs = 2_000;
const defaultConcurrency = 64;
const defaultGraceMs = 5000;

/**
 * Creates the schema of `createPostgresEngine` or brings it up to date. Rejects with
 * `config_invalid` for a schema of a newer version, with `storage_unavailable` without a database.
 */
export async function migratePostgres(options: Pick<PostgresEngineOptions, "url" | "schema">): Promise<void> {
  const database = new Database({ ...options, schema: schemaOf(options), connections: 2, log: silentLog });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

/**
 * The version of the server, and how many connections it takes. Rejects with `storage_unavailable`
 * without one.
 */
export async function aboutPostgres({
  url,
}: Pick<PostgresEngineOptions, "url">): Promise<{ readonly version: string; readonly connections: string }> {
  const database = new Database({ url, schema: "public", connections: 1, log: silentLog });
  try {
    const [row] = await database.query<{ version: string; connections: string }>(
      "SELECT current_setting('server_version') AS version, current_setting('max_connections') AS connections",
    );
    return row ?? { version: "unknown", connections: "unknown" };
  } finally {
    await database.close();
  }
}

/**
 * The engine for several machines: runs, journal, events and signals in a PostgreSQL schema that
 * `migratePostgres` made.
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
  const { connections = defaultConnections, silenceMs } = options;
  const database = new Database({
    ...{ url, schema: schemaOf(options), connections, log },
    ...(silenceMs !== undefined && { silenceMs }),
  });
  const clock = new DatabaseClock();
  const live = new Live();
  const news = new News({
    ...{ database, live, log, pollMs },
    onNews({ runIds, isClaimable }) {
      executor.catchUp(runIds).catch(logBug(log, "What changed elsewhere could not be looked at."));
      if (isClaimable) dispatcher.news();
    },
    onFollowed: (followed) => shared.followedElsewhere(followed),
  });
  const shared: SharedProgress = new SharedProgress({
    ...{ database, live, log },
    isHere: (runId) => executor.holds(runId),
    say: (followed) => news.follows(followed),
  });
  const conversations: HeldConversations = new HeldConversations({
    ...{ database, log },
    worker: () => dispatcher.owner,
    onFree: () => news.freed(),
  });
  const executor: Executor = new Executor({
    ...{ database, clock, live, shared, conversations, news, log, stopMs },
    onRunnable(runId, due) {
      if (due !== undefined || !executor.nudge(runId)) dispatcher.runnable(runId, due);
    },
  });
  const dispatcher = createDispatcher({ database, clock, executor, news, log, leaseMs });
  let isClosing = false;

  return {
    ...intake({ database, news, executor, dispatcher }),
    ...reading(database),
    follow: (runId, place) => follow(live, logOf({ database, news, shared }, runId), runId, place),
    changes: (signal) => changes(live, () => news.listen().then(() => () => undefined), signal),
    work(definitions, { concurrency = defaultConcurrency, dedicatedPool = false } = {}) {
      const pool = executor.add(definitions, { concurrency, dedicatedPool });
      void news.listen();
      dispatcher.serve(pool);
    },
    ...housekeeping({ database, news, log }),
    conversations,
    health: () => database.health(),
    async close({ graceMs = defaultGraceMs } = {}) {
      if (isClosing) return;
      isClosing = true;
      conversations.close();
      await executor.drain(graceMs, () => dispatcher.isIdle);
      // A server that is silent now keeps nobody waiting.
      const last = setTimeout(() => void database.close(), lastWordsMs);
      await closeAll(
        () => dispatcher.close(),
        () => live.close(),
        () => shared.close(),
        () => news.close(),
        () => clearTimeout(last),
        () => database.close(),
      );
    },
  };
}

function schemaOf({ schema = "manyhands" }: Pick<PostgresEngineOptions, "schema">): string {
  return schema;
}
