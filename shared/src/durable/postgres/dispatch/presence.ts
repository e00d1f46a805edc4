import { SQL } from "bun";
import { AppError } from "../../../core/errors.ts";
import type { Session } from "../connections.ts";
import type { DispatcherDeps } from "./dispatcher.ts";

/** What a worker's presence needs. */
export type PresenceOptions = Omit<DispatcherDeps, "news"> & {
  /** This worker is known now, or runs of another one were queued. */
  readonly onChange: () => void;
};

const beatsPerLease = 5;
const longestBeatMs = 500;
const tryAgainMs = 200;
/** How long workers whose locks went with the server may take to come back. */
const comeBackMs = 3_000;

type WorkerRow = {
  readonly id: string;
  readonly lock_key: string;
  readonly is_late: boolean;
  /** Whether the server was started after its last beat, which took its lock from it. */
  readonly is_cut_off: boolean;
};

const serverStart = "floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint";
const workerRow = `SELECT id, lock_key, expires_at < now_ms() AS is_late,
  expires_at - $2::bigint < ${serverStart} AS is_cut_off FROM workers WHERE`;

/**
 * Shows the others that this worker is alive, and sees which of them are not. A worker is alive
 * while its session holds an advisory lock and its lease goes on: a process that ends loses its
 * lock at once, one that hangs its lease; so does one whose connection is silent, which gives up
 * what it has before the others see its lease over. When the database's server starts again, all
 * locks are gone: who takes its own back within its lease, and is not declared dead by then, keeps
 * its runs.
 */
export class Presence {
  readonly #options: PresenceOptions;
  #owner: string | undefined;
  /** The connection that holds this worker's lock. */
  #session: Session | undefined;
  /** When that was made. */
  #joinedAt = 0;
  /** When the server was started that it is a session of. */
  #server: string | undefined;
  /** When this worker's lease was last known to be renewed. */
  #renewedAt = 0;
  /** The name it had before others declared it dead. */
  #former: string | undefined;
  #isSeeing = false;
  /** When the look in progress began; undefined between looks. */
  #lookingSince: number | undefined;
  /** Whether it was overdue already: an answer may have come while the process stood still. */
  #isOverdue = false;
  #watch: ReturnType<typeof setInterval> | undefined;
  #beat: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  /** What the others know of this worker: its id and the keys of its offer. */
  #announced = "";
  #isClosed = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** The name under which this worker may own runs; undefined while others may think it dead. */
  get owner(): string | undefined {
    return this.#owner;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#watch = setInterval(() => this.#giveUpIfOverdue(), this.#beatMs);
    void this.#look();
  }

  /**
   * Whether this worker is dead. Its runs are queued by then, by this process or another. Resolves
   * with false while this one cannot tell.
   */
  async isGone(owner: string): Promise<boolean> {
    const [worker] = await this.#options.database.query<WorkerRow>(`${workerRow} id = $1`, [
      owner,
      this.#options.leaseMs,
    ]);
    return worker === undefined || (await this.#bury(worker));
  }

  /**
   * Tells the others what this worker can execute, if they do not know it yet. Resolves with the
   * runs that had paused for want of that and are queued now.
   */
  async announce(): Promise<readonly { readonly id: string; readonly last: number }[]> {
    const { database, executor } = this.#options;
    const owner = this.#owner;
    const { keys } = executor.offer;
    const announced = `${owner} ${keys.join("\n")}`;
    if (owner === undefined || this.#announced === announced) return [];
    const resumed = await database.call<readonly { id: string; last: number }[]>("offer_bodies", { owner, keys });
    this.#announced = announced;
    return resumed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#beat);
    clearInterval(this.#watch);
    const { database } = this.#options;
    if (this.#owner !== undefined)
      await database.query("SELECT bury_worker($1, false)", [this.#owner]).catch(() => undefined);
    this.#leaveSession();
  }

  get #beatMs(): number {
    return Math.min(longestBeatMs, this.#options.leaseMs / beatsPerLease);
  }

  /** A connection may be silent for ever. */
  #giveUpIfOverdue(): void {
    const since = this.#owner === undefined ? this.#lookingSince : this.#renewedAt;
    const isLooking = this.#lookingSince !== undefined && since !== undefined;
    const isOverdue = isLooking && performance.now() - since > this.#options.leaseMs - 2 * this.#beatMs;
    if (isOverdue && this.#isOverdue) this.#loseLease(new Error("The run store does not answer."));
    this.#isOverdue = isOverdue && !this.#isOverdue;
  }

  async #look(): Promise<void> {
    this.#lookingSince = performance.now();
    try {
      if (this.#owner === undefined) await this.#register();
      else await this.#beatOnce(this.#owner);
      void this.#see();
    } catch (error) {
      if (!this.#isClosed) this.#fail(error);
    }
    this.#lookingSince = undefined;
    const pauseMs = this.#session === undefined ? tryAgainMs : this.#beatMs;
    if (!this.#isClosed) this.#beat = setTimeout(() => void this.#look(), pauseMs);
  }

  /**
   * While its lease goes on and nobody declared it dead its runs go on, though what they record
   * waits for the database.
   */
  #fail(error: unknown): void {
    const isDead = error instanceof AppError && error.code === "unavailable";
    const isHeld = !isDead && performance.now() - this.#renewedAt < this.#options.leaseMs;
    if (this.#owner !== undefined && isHeld) this.#leaveSession();
    else this.#loseLease(error);
  }

  #loseLease(error: unknown): void {
    const { log, executor } = this.#options;
    this.#leaveSession();
    if (this.#owner !== undefined) log.warn({ err: error }, "This worker lost its lease; its runs continue elsewhere.");
    this.#former = this.#owner ?? this.#former;
    this.#owner = undefined;
    executor.loseAll();
  }

  async #register(): Promise<void> {
    const { leaseMs, onChange } = this.#options;
    const id = crypto.randomUUID();
    const { session, server } = await this.#open("pg_advisory_lock", id);
    const askedAt = performance.now();
    await session.unsafe("INSERT INTO workers VALUES ($1, $2::bigint, now_ms() + $3::bigint)", [
      id,
      keyOf(id),
      leaseMs,
    ]);
    this.#server = server;
    this.#renewedAt = askedAt;
    this.#owner = id;
    onChange();
  }

  /** Renews the lease; on a session of its own that broke, once more on another. */
  async #beatOnce(owner: string): Promise<void> {
    try {
      await this.#renew(owner);
    } catch (error) {
      if (error instanceof AppError || this.#isClosed || this.#owner !== owner) throw error;
      this.#leaveSession();
      await this.#comeBack(owner);
      if (this.#owner !== owner) throw error;
      await this.#renew(owner);
    }
  }

  /** On the session that holds the lock: when that is cut, this worker counts as gone. */
  async #renew(owner: string): Promise<void> {
    if (this.#session === undefined) throw new Error("There is no session.");
    const askedAt = performance.now();
    const rows = await this.#session.unsafe(
      "UPDATE workers SET expires_at = now_ms() + $2::bigint WHERE id = $1 RETURNING id",
      [owner, this.#options.leaseMs],
    );
    if (rows.length !== 1) throw new AppError("unavailable", "Other workers declared this one dead.");
    this.#renewedAt = askedAt;
  }

  /** Takes the lock back that went with the server; from one that goes on others saw it go. */
  async #comeBack(owner: string): Promise<void> {
    const { server, isLocked } = await this.#open("pg_try_advisory_lock", owner);
    if (server === this.#server) throw new AppError("unavailable", "The session of this worker was cut.");
    if (!isLocked) throw new Error("Another worker looks whether this one is there.");
    this.#server = server;
  }

  /** A session, with this worker's lock if it could be had. */
  async #open(lock: "pg_advisory_lock" | "pg_try_advisory_lock", id: string) {
    const { database, clock } = this.#options;
    await clock.learn(database);
    const session = await database.session();
    this.#session = session;
    const [row] = await session.unsafe(
      `SELECT ${lock}($1::bigint)::text IS DISTINCT FROM 'false' AS locked, ${serverStart} AS server`,
      [keyOf(id)],
    );
    this.#joinedAt = performance.now();
    return { session, server: String(row?.server), isLocked: row?.locked === true };
  }

  /** Looks for workers that are gone, however long that takes: the beats go on meanwhile. */
  async #see(): Promise<void> {
    if (this.#isSeeing) return;
    this.#isSeeing = true;
    try {
      if (await this.#buryOthers()) this.#options.onChange();
    } catch (error) {
      // A session that was cut, or the server's end, is seen by the next beat.
      const isKnown = error instanceof AppError || error instanceof SQL.SQLError;
      if (!isKnown && !this.#isClosed) this.#options.log.error({ err: error }, "Other workers could not be looked at.");
    } finally {
      this.#isSeeing = false;
    }
  }

  async #buryOthers(): Promise<boolean> {
    const others = await this.#options.database.query<WorkerRow>(`${workerRow} id <> $1`, [
      this.#owner,
      this.#options.leaseMs,
    ]);
    let buried = false;
    for (const other of others) if (await this.#bury(other)) buried = true;
    return buried;
  }

  /** Declares a worker dead if its session is gone or its lease is over. */
  async #bury({ id, lock_key, is_late, is_cut_off }: WorkerRow): Promise<boolean> {
    const { database, log, leaseMs } = this.#options;
    const isAwaited = performance.now() - this.#joinedAt < Math.min(comeBackMs, leaseMs);
    if (is_cut_off && isAwaited && id !== this.#former) return false;
    if (!is_late && !(await this.#isFree(lock_key))) return false;
    const [row] = await database.query<{ runs: string | null }>("SELECT bury_worker($1, $2) AS runs", [id, is_late]);
    if (row === undefined || row.runs === null) return false;
    log.warn({ worker: id, runs: Number(row.runs) }, "A worker is gone; its runs continue here.");
    return true;
  }

  async #isFree(key: string): Promise<boolean> {
    const [row] = (await this.#session?.unsafe("SELECT pg_try_advisory_lock($1::bigint) AS free", [key])) ?? [];
    if (row?.free !== true) return false;
    await this.#session?.unsafe("SELECT pg_advisory_unlock($1::bigint)", [key]);
    return true;
  }

  /** Ends the session, and with it the lock. */
  #leaveSession(): void {
    const session = this.#session;
    this.#session = undefined;
    void session?.end().catch(() => undefined);
  }
}

/** The advisory lock of a worker. */
function keyOf(id: string): string {
  return BigInt(`0x${id.replaceAll("-", "").slice(0, 15)}`).toString();
}
