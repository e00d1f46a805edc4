import type { ReservedSQL } from "bun";
import { AppError } from "../../../core/errors.ts";
import type { DispatcherDeps } from "./dispatcher.ts";

/** What a worker's presence needs. */
export type PresenceOptions = Omit<DispatcherDeps, "news"> & {
  /** This worker is known now, or runs of another one were queued. */
  readonly onChange: () => void;
};

const beatsPerLease = 5;
const longestBeatMs = 500;
const registerAgainMs = 200;

type WorkerRow = { readonly id: string; readonly lock_key: string; readonly is_late: boolean };

/**
 * Shows the others that this worker is alive, and sees which of them are not. A worker is alive
 * while its session holds an advisory lock and its lease goes on: a process that ends loses its
 * lock at once, one that hangs its lease.
 */
export class Presence {
  readonly #options: PresenceOptions;
  #owner: string | undefined;
  /** The connection that holds this worker's lock. */
  #session: ReservedSQL | undefined;
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
    void this.#look();
  }

  /**
   * Whether this worker is dead. Its runs are queued by then, by this process or another. Resolves
   * with false while this one cannot tell.
   */
  async isGone(owner: string): Promise<boolean> {
    const [worker] = await this.#options.database.query<WorkerRow>(
      "SELECT id, lock_key, expires_at < now_ms() AS is_late FROM workers WHERE id = $1",
      [owner],
    );
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
    const { database } = this.#options;
    if (this.#owner !== undefined)
      await database.query("SELECT bury_worker($1, false)", [this.#owner]).catch(() => undefined);
    this.#leaveSession();
  }

  async #look(): Promise<void> {
    const { leaseMs, log, executor, onChange } = this.#options;
    try {
      if (this.#owner === undefined) await this.#register();
      else await this.#renew(this.#owner);
      if (await this.#buryOthers()) onChange();
    } catch (error) {
      if (!this.#isClosed) {
        if (this.#owner !== undefined)
          log.warn({ err: error }, "This worker lost its lease; its runs continue elsewhere.");
        this.#owner = undefined;
        executor.loseAll();
        this.#leaveSession();
      }
    }
    const pauseMs = this.#owner === undefined ? registerAgainMs : Math.min(longestBeatMs, leaseMs / beatsPerLease);
    if (!this.#isClosed) this.#beat = setTimeout(() => void this.#look(), pauseMs);
  }

  async #register(): Promise<void> {
    const { database, clock, leaseMs, onChange } = this.#options;
    const id = crypto.randomUUID();
    const key = BigInt(`0x${id.replaceAll("-", "").slice(0, 15)}`).toString();
    await clock.learn(database);
    const session = await database.sql.reserve();
    this.#session = session;
    await session.unsafe("SELECT pg_advisory_lock($1::bigint)", [key]);
    await session.unsafe("INSERT INTO workers VALUES ($1, $2::bigint, now_ms() + $3::bigint)", [id, key, leaseMs]);
    this.#owner = id;
    onChange();
  }

  /** On the session that holds the lock: when that is cut, this worker counts as gone. */
  async #renew(owner: string): Promise<void> {
    const rows = await this.#session?.unsafe(
      "UPDATE workers SET expires_at = now_ms() + $2::bigint WHERE id = $1 RETURNING id",
      [owner, this.#options.leaseMs],
    );
    if (rows?.length !== 1) throw new AppError("unavailable", "Other workers declared this one dead.");
  }

  async #buryOthers(): Promise<boolean> {
    const others = await this.#options.database.query<WorkerRow>(
      "SELECT id, lock_key, expires_at < now_ms() AS is_late FROM workers WHERE id <> $1",
      [this.#owner],
    );
    let buried = false;
    for (const other of others) if (await this.#bury(other)) buried = true;
    return buried;
  }

  /** Declares a worker dead if its session is gone or its lease is over. */
  async #bury({ id, lock_key, is_late }: WorkerRow): Promise<boolean> {
    const { database, log } = this.#options;
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
    if (session === undefined) return;
    session
      .unsafe("SELECT pg_advisory_unlock_all()")
      .catch(() => undefined)
      .finally(() => session.release());
  }
}
