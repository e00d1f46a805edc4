import { SQL } from "bun";
import { AppError, messageOf } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { EngineHealth, Log } from "../../core/runs/engine.ts";
import { StoreUnavailable } from "../replay/run-store.ts";
import { Connections, type Listening, type Session } from "./connections.ts";

/** Where the runs are. */
export type DatabaseOptions = {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Several systems may share a database, each with a schema of its own. */
  readonly schema: string;
  /** Most connections at once; one more listens, and each session has its own. */
  readonly connections: number;
  readonly log: Log;
  /**
   * How long the server may leave a statement unanswered, in milliseconds, before its connection
   * counts as lost. It is told to give up each statement within three quarters of that. Default 20
   * s.
   */
  readonly silenceMs?: number;
};

const firstPauseMs = 20;
const longestPauseMs = 1_000;
const defaultSilenceMs = 20_000;
/** How often one that waits long for an answer asks whether the server is there. */
const probeEveryMs = 5_000;

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
  readonly schema: string;
  readonly #connections: Connections;
  readonly #where: string;
  readonly #log: Log;
  #failure: string | undefined;
  #isClosed = false;

  constructor({ url, schema, connections, log, silenceMs = defaultSilenceMs }: DatabaseOptions) {
    this.schema = schema;
    this.#where = placeOf(url);
    this.#log = log;
    const settings = {
      search_path: `"${schema}"`,
      application_name: "manyhands",
      // Tables in parts make the planner expect much, and compiling takes longer than any
      // statement.
      jit: "off",
      statement_timeout: String(Math.ceil(silenceMs * 0.75)),
    };
    this.#connections = new Connections({ url, max: connections, settings, silenceMs });
  }

  /** The connections that statements share. */
  get sql(): SQL {
    return this.#connections.shared;
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
        const rows = await this.#connections.ask((sql) => sql.unsafe<T[]>(text, [...values]));
        this.#worked();
        return rows;
      } catch (error) {
        this.#assertOpen();
        const state = stateOf(error);
        if (state !== undefined && !isOfStorage(state) && !isHindrance(state)) throw asAsked(error, state);
        if (state === tookTooLong && !keep) throw this.#unavailable(error);
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
    let answered = this.#connections.asked();
    try {
      return await this.sql.begin(async (connection) => {
        answered();
        try {
          return await work(<R>(text: string, values: readonly unknown[] = []) =>
            this.#connections.ask(() => connection.unsafe<R[]>(text, [...values])),
          );
        } finally {
          answered = this.#connections.asked();
        }
      });
    } catch (error) {
      throw this.#asAsked(error);
    } finally {
      answered();
    }
  }

  /**
   * Runs statements on one connection, however long they take, while no other process does so under
   * the same lock. It takes two connections.
   */
  async alone<T>(lock: number, work: (run: <R>(text: string) => Promise<R[]>) => Promise<T>): Promise<T> {
    const connection = await this.#connections
      .ask((sql) => sql.reserve())
      .catch((error) => {
        throw this.#unavailable(error);
      });
    // Beside a server that is silent to others the connection is given up with theirs.
    const probe = setInterval(() => void this.query("SELECT 1").catch(() => undefined), probeEveryMs);
    try {
      await connection.unsafe("SET statement_timeout = 0");
      await connection.unsafe(`SELECT pg_advisory_lock(${lock})`);
      return await work(<R>(text: string) => connection.unsafe<R[]>(text).simple());
    } catch (error) {
      throw this.#asAsked(error);
    } finally {
      await connection.unsafe(`SELECT pg_advisory_unlock(${lock})`).catch(() => undefined);
      await connection.unsafe("RESET statement_timeout").catch(() => undefined);
      clearInterval(probe);
      connection.release();
    }
  }

  /** A connection of one's own, whose locks go when it ends. */
  session(): Promise<Session> {
    return this.#connections.session();
  }

  /** Hears what is said on a channel, until the returned function is called. */
  listen(what: Listening): Promise<() => Promise<void>> {
    return this.#connections.listen(what);
  }

  health(): EngineHealth {
    return this.#failure === undefined ? { ok: true } : { ok: false, reason: this.#unavailable().message };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connections.close();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new AppError("unavailable", "This engine is closed.");
  }

  #failed(error: unknown): void {
    const reason = this.#inWords(messageOf(error));
    if (this.#failure === undefined) this.#log.error({ reason, err: error }, "The run store is unavailable.");
    this.#failure = reason;
  }

  #worked(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#log.warn({}, "The run store works again.");
  }

  #asAsked(error: unknown): unknown {
    const state = stateOf(error);
    const isAway = state === undefined || isOfStorage(state) || isHindrance(state);
    return error instanceof SQL.SQLError && isAway ? this.#unavailable(error) : asAsked(error, state);
  }

  #unavailable(cause?: unknown): AppError {
    const reason = this.#failure ?? this.#inWords(cause instanceof Error ? cause.message : "it failed");
    return new StoreUnavailable(reason, cause);
  }

  /** What is wrong, and where. */
  #inWords(what: string): string {
    return `${this.#where}: ${what}`;
  }
}

/** Where a server is, without who logs in there. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL at ${hostname}:${port || "5432"}${pathname}`;
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

/** A statement was given up: it took too long, or somebody asked for it. */
const tookTooLong = "57014";

/** A deadlock or a conflict with another transaction, or one that kept a statement too long. */
function isHindrance(state: string): boolean {
  return state.startsWith("40") || state === tookTooLong;
}
