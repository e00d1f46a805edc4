import { SQL } from "bun";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { EngineHealth, Log } from "../../core/runs/engine.ts";
import { StoreUnavailable } from "../replay/run-store.ts";

/** Where the runs are. */
export type DatabaseOptions = {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Several systems may share a database, each with a schema of its own. */
  readonly schema: string;
  /** Most connections at once; one more listens. */
  readonly connections: number;
  readonly log: Log;
};

const firstPauseMs = 20;
const longestPauseMs = 1_000;

/** The functions of the schema that answer in JSON, by name. */
export type FunctionName =
  | "accept_run"
  | "cancel_run"
  | "commit_run"
  | "deliver"
  | "offer_bodies"
  | "resume_run"
  | "take_run"
  | "watch_run";

/** Runs one statement on the connection of a transaction. */
export type RunStatement = <R>(text: string, values?: readonly unknown[]) => Promise<R[]>;

/**
 * The only access to PostgreSQL in this process. Every function of the schema is one transaction
 * and one round trip.
 */
export class Database {
  readonly sql: SQL;
  readonly schema: string;
  readonly #log: Log;
  #failure: string | undefined;
  #isClosed = false;

  constructor({ url, schema, connections, log }: DatabaseOptions) {
    this.schema = schema;
    this.#log = log;
    this.sql = new SQL({
      url,
      max: connections,
      connectionTimeout: 5,
      // Tables in parts make the planner expect much, and compiling takes longer than any
      // statement.
      connection: { search_path: `"${schema}"`, application_name: "manyhands", jit: "off" },
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Calls a function with one argument. With `keep` it waits until the database works again;
   * otherwise it rejects with `storage_unavailable`. The call must then be one that may be made
   * twice: whether the first one was committed may be unknown.
   */
  async call<T>(name: FunctionName, argument: Json, { keep = false } = {}): Promise<T> {
    const text = typeof argument === "string" ? argument : JSON.stringify(argument);
    const [row] = await this.query<{ answer: string }>(`SELECT ${name}($1::text) AS answer`, [text], { keep });
    return JSON.parse(row?.answer ?? "null");
  }

  /** Runs one statement; see `call`. A statement that another transaction hindered is repeated. */
  async query<T>(text: string, values: readonly unknown[] = [], { keep = false } = {}): Promise<T[]> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      this.#assertOpen();
      try {
        const rows = await this.sql.unsafe<T[]>(text, [...values]);
        this.#worked();
        return rows;
      } catch (error) {
        this.#assertOpen();
        const state = stateOf(error);
        if (state !== undefined && !isOfStorage(state) && !isHindrance(state)) throw asAsked(error, state);
        if (state === undefined || isOfStorage(state)) {
          this.#failed(error);
          if (!keep) throw this.#unavailable(error);
        }
        await Bun.sleep(pauseMs);
      }
    }
  }

  /** Runs statements in one transaction; what `work` throws undoes it. */
  async transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    this.#assertOpen();
    try {
      return await this.sql.begin((connection) =>
        work(<R>(text: string, values: readonly unknown[] = []) => connection.unsafe<R[]>(text, [...values])),
      );
    } catch (error) {
      const state = stateOf(error);
      if (error instanceof SQL.SQLError && (state === undefined || isOfStorage(state) || isHindrance(state)))
        throw this.#unavailable(error);
      throw asAsked(error, state);
    }
  }

  /** Runs statements on one connection, while no other process does so under the same lock. */
  async alone<T>(lock: number, work: (run: <R>(text: string) => Promise<R[]>) => Promise<T>): Promise<T> {
    const connection = await this.sql.reserve().catch((error) => {
      throw this.#unavailable(error);
    });
    try {
      await connection.unsafe(`SELECT pg_advisory_lock(${lock})`);
      return await work(<R>(text: string) => connection.unsafe<R[]>(text).simple());
    } finally {
      await connection.unsafe(`SELECT pg_advisory_unlock(${lock})`).catch(() => undefined);
      connection.release();
    }
  }

  health(): EngineHealth {
    return this.#failure === undefined ? { ok: true } : { ok: false, reason: this.#unavailable().message };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.sql.close({ timeout: 1 }).catch(() => undefined);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new AppError("unavailable", "This engine is closed.");
  }

  #failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failure === undefined) this.#log.error({ reason, err: error }, "The run store is unavailable.");
    this.#failure = reason;
  }

  #worked(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#log.warn({}, "The run store works again.");
  }

  #unavailable(cause?: unknown): AppError {
    const reason = this.#failure ?? (cause instanceof Error ? cause.message : "it failed");
    return new StoreUnavailable(reason, cause);
  }
}

/** The SQLSTATE of an error that the server reported; undefined if it never answered. */
export function stateOf(error: unknown): string | undefined {
  const { errno } = error as { readonly errno?: unknown };
  return error instanceof SQL.PostgresError && typeof errno === "string" && /^[0-9A-Z]{5}$/.test(errno)
    ? errno
    : undefined;
}

/** No text holds U+0000, so nothing is stored under a name that does. */
function asAsked(error: unknown, state: string | undefined): unknown {
  if (state !== "22021") return error;
  return new AppError("invalid_input", "A name holds U+0000, which is stored nowhere.", { cause: error });
}

/** The connection broke, the server stops or is out of something, or it only reads. */
function isOfStorage(state: string): boolean {
  return /^(08|53|57P|58|25006)/.test(state);
}

/** A deadlock or a conflict with another transaction. */
function isHindrance(state: string): boolean {
  return state.startsWith("40");
}
