import type { ReservedSQL } from "bun";
import { firstBody } from "../../core/bodies.ts";
import type { Log } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Dispatcher, Seat } from "./dispatcher.ts";
import { type Executor, type Pool, roomOf } from "./executor.ts";
import type { News } from "./news.ts";
import type { RunRow } from "./run-row.ts";

/** What the dispatcher needs. */
export type LeaseDispatcherOptions = {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly executor: Executor;
  readonly news: News;
  readonly log: Log;
  /** How long a worker may be silent before another takes its runs over. */
  readonly leaseMs: number;
};

const beatsPerLease = 5;
const longestBeatMs = 500;
const longestTimerMs = 2 ** 31 - 1;

type WorkerRow = { readonly id: string; readonly lock_key: string; readonly is_late: boolean };

/**
 * Shares the runs out by PostgreSQL alone: workers claim what is due. A worker is alive while its
 * session holds an advisory lock and its lease goes on: a process that ends loses its lock at once,
 * one that hangs its lease.
 */
export class LeaseDispatcher implements Dispatcher {
  readonly #options: LeaseDispatcherOptions;
  readonly #pools = new Set<Pool>();
  #owner: string | undefined;
  /** The connection that holds this worker's lock. */
  #session: ReservedSQL | undefined;
  #beat: ReturnType<typeof setTimeout> | undefined;
  readonly #wakers = new Set<ReturnType<typeof setTimeout>>();
  #isStarted = false;
  #isClosed = false;
  #isClaiming = false;
  #claimAgain = false;
  /** What other workers know of this one: its id and the keys of its offer. */
  #announced = "";
  /** Runs may have been given to this worker without its knowledge: an answer was lost. */
  #isUnsure = false;

  constructor(options: LeaseDispatcherOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return !this.#isClaiming && [...this.#pools].every(({ reserved }) => reserved === 0);
  }

  serve(pool: Pool): void {
    this.#pools.add(pool);
    if (!this.#isStarted) {
      this.#isStarted = true;
      void this.#look();
    }
    this.#wake();
  }

  reserve(kind: string): Seat | undefined {
    const owner = this.#owner;
    const pool = this.#options.executor.poolOf(kind);
    const isBusy = this.#isClaiming || this.#isUnsure || this.#options.executor.isDraining;
    if (owner === undefined || pool === undefined || isBusy || roomOf(pool) <= 0) return undefined;
    pool.reserved++;
    let isTaken = false;
    return {
      owner,
      body: pool.offer.newest[kind] ?? firstBody,
      begin: (row) => {
        isTaken = true;
        this.#begin(row, owner, pool);
      },
      leave: () => {
        pool.reserved--;
        // Refused, found, or its answer was lost.
        if (!isTaken) this.#isUnsure = true;
        if (!isTaken) this.#wake();
      },
    };
  }

  runnable(runId: string, due?: number): void {
    if (due === undefined) {
      this.#wake();
      this.#options.news.tell(runId, { isClaimable: true });
      return;
    }
    const left = Math.min(longestTimerMs, Math.max(0, due - this.#options.clock.now()) + 1);
    const waker = setTimeout(() => {
      this.#wakers.delete(waker);
      this.#wake();
    }, left);
    this.#wakers.add(waker);
  }

  news(): void {
    this.#wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#beat);
    for (const waker of this.#wakers) clearTimeout(waker);
    const { database } = this.#options;
    if (this.#owner !== undefined)
      await database.query("SELECT bury_worker($1, false)", [this.#owner]).catch(() => undefined);
    this.#leaveSession();
  }

  async #look(): Promise<void> {
    const { leaseMs, log, executor } = this.#options;
    try {
      if (this.#owner === undefined) await this.#register();
      else await this.#renew(this.#owner);
      if (await this.#buryOthers()) this.#wake();
    } catch (error) {
      if (!this.#isClosed) {
        if (this.#owner !== undefined)
          log.warn({ err: error }, "This worker lost its lease; its runs continue elsewhere.");
        this.#owner = undefined;
        executor.loseAll();
        this.#leaveSession();
      }
    }
    const pauseMs = this.#owner === undefined ? 200 : Math.min(longestBeatMs, leaseMs / beatsPerLease);
    if (!this.#isClosed) this.#beat = setTimeout(() => void this.#look(), pauseMs);
  }

  async #register(): Promise<void> {
    const { database, clock, leaseMs } = this.#options;
    const id = crypto.randomUUID();
    const key = BigInt(`0x${id.replaceAll("-", "").slice(0, 15)}`).toString();
    await clock.learn(database);
    const session = await database.sql.reserve();
    this.#session = session;
    await session.unsafe("SELECT pg_advisory_lock($1::bigint)", [key]);
    await session.unsafe("INSERT INTO workers VALUES ($1, $2::bigint, now_ms() + $3::bigint)", [id, key, leaseMs]);
    this.#owner = id;
    this.#wake();
  }

  /** On the session that holds the lock: when that is cut, this worker counts as gone. */
  async #renew(owner: string): Promise<void> {
    const rows = await this.#session?.unsafe(
      "UPDATE workers SET expires_at = now_ms() + $2::bigint WHERE id = $1 RETURNING id",
      [owner, this.#options.leaseMs],
    );
    if (rows?.length !== 1) throw new AppError("unavailable", "Other workers declared this one dead.");
  }

  /** Declares workers dead whose session is gone or whose lease is over. */
  async #buryOthers(): Promise<boolean> {
    const { database, log } = this.#options;
    const others = await database.query<WorkerRow>(
      "SELECT id, lock_key, expires_at < now_ms() AS is_late FROM workers WHERE id <> $1",
      [this.#owner],
    );
    let buried = false;
    for (const { id, lock_key, is_late } of others) {
      if (!is_late && !(await this.#isFree(lock_key))) continue;
      const [row] = await database.query<{ runs: string | null }>("SELECT bury_worker($1, $2) AS runs", [id, is_late]);
      if (row === undefined || row.runs === null) continue;
      buried = true;
      log.warn({ worker: id, runs: Number(row.runs) }, "A worker is gone; its runs continue here.");
    }
    return buried;
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
    if (session === undefined) return;
    session
      .unsafe("SELECT pg_advisory_unlock_all()")
      .catch(() => undefined)
      .finally(() => session.release());
  }

  #wake(): void {
    this.#claimAgain = true;
    if (this.#isClaiming || this.#isClosed) return;
    this.#isClaiming = true;
    void this.#claimAll();
  }

  async #claimAll(): Promise<void> {
    const { executor, log } = this.#options;
    try {
      while (this.#claimAgain) {
        this.#claimAgain = false;
        const owner = this.#owner;
        if (executor.isDraining || owner === undefined) return;
        if (this.#isUnsure) await this.#handBackUnknown(owner);
        for (const pool of this.#pools) if (roomOf(pool) > 0) await this.#claim(owner, pool);
        await this.#announce(owner);
      }
    } catch (error) {
      this.#isUnsure = true;
      if (!(error instanceof AppError)) log.error({ err: error }, "Runs could not be claimed.");
    } finally {
      this.#isClaiming = false;
    }
  }

  async #claim(owner: string, pool: Pool): Promise<void> {
    const { database } = this.#options;
    const { keys, newest, missing } = pool.offer;
    const offer = { kinds: Object.keys(newest), bodies: keys, newest, missing };
    const rows = await database.call<readonly RunRow[]>("claim_runs", { ...offer, owner, limit: roomOf(pool) });
    for (const row of rows) this.#begin(row, owner, pool);
  }

  /** Tells other workers what this one can execute; runs that paused for want of that go on. */
  async #announce(owner: string): Promise<void> {
    const { executor, database, news } = this.#options;
    const { keys } = executor.offer;
    const announced = `${owner} ${keys.join("\n")}`;
    if (this.#announced === announced) return;
    const resumed = await database.call<readonly { id: string; last: number }[]>("offer_bodies", { owner, keys });
    this.#announced = announced;
    if (resumed.length > 0) this.#claimAgain = true;
    for (const { id, last } of resumed) news.tell(id, { last, isClaimable: true });
  }

  #begin(row: RunRow, owner: string, pool: Pool): void {
    this.#known.add(String(row.n));
    void this.#options.executor.execute(row, owner, pool).finally(() => {
      this.#known.delete(String(row.n));
      this.#wake();
    });
  }

  /** The keys of the runs that this worker knows to be its own. */
  readonly #known = new Set<string>();

  async #handBackUnknown(owner: string): Promise<void> {
    // A run being accepted now may be given to this worker in a moment.
    if ([...this.#pools].some(({ reserved }) => reserved > 0)) return;
    this.#isUnsure = false;
    const known = JSON.stringify([...this.#known]);
    await this.#options.database.query("SELECT hand_back($1, $2)", [owner, known]);
  }
}
