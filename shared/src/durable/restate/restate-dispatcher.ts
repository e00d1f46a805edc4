import { logBug } from "../../core/async/log-bug.ts";
import { AppError } from "../../core/errors.ts";
import type { Dispatcher, DispatcherDeps } from "../postgres/dispatch/dispatcher.ts";
import { claimOf, type Pool, roomOf } from "../postgres/dispatch/executor.ts";
import { Presence } from "../postgres/dispatch/presence.ts";
import type { RunRow } from "../postgres/run-row.ts";
import type { Ingress } from "./ingress.ts";
import type { DrivenWorker, RestateEndpoint } from "./restate-endpoint.ts";
import { Turns } from "./turns.ts";
import { Waiters } from "./waiters.ts";

/** What the dispatcher needs. */
export type RestateDispatcherOptions = DispatcherDeps & {
  readonly endpoint: RestateEndpoint;
  readonly ingress: Ingress;
};

/** How long a drive waits for room here before it goes where there may be some. */
const roomWithinMs = 5_000;
const sweepEveryMs = 2_000;
/** A run that was due for so long was not asked for, or nobody had room for it. */
const overdueMs = 3_000;
const maxSwept = 500;
/** A wake-up that is no further away is waited for here. */
const shortMs = 1_000;
const lookEveryMs = 250;
/** A run whose body only others have is asked for again, in the hope that it comes to them. */
const elsewhereMs = 500;

/** The run if it was taken; otherwise when it is due, who executes it, or nothing. */
type Taken = {
  readonly run?: RunRow;
  readonly left?: number;
  readonly epoch?: number;
  readonly owner?: string;
  readonly isElsewhere?: true;
};

/** A drive in this process. */
type Driving = {
  readonly ended: Promise<void>;
  /** What wakes it while it waits. */
  readonly waiters: Waiters;
  /** Whether the run may have become due since it last looked. */
  again: boolean;
  /** Whether it claims or executes the run. */
  isBusy: boolean;
};

/**
 * Lets Restate share the runs out. It begins a drive of a run where there is a worker, again if
 * that is lost, and of each run one at a time; a drive takes the run if it is due, and executes it
 * until it ends or parks. A drive that comes while the run is still executed, by this worker or
 * another, watches: so it is when Restate itself was restarted. It takes the run over once the
 * worker is gone.
 */
export class RestateDispatcher implements Dispatcher, DrivenWorker {
  readonly #options: RestateDispatcherOptions;
  readonly #presence: Presence;
  /** Of each pool, the drives that wait for room in it. */
  readonly #pools = new Map<Pool, Turns>();
  readonly #drives = new Map<string, Driving>();
  readonly #sends = new Set<Promise<unknown>>();
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(options: RestateDispatcherOptions) {
    this.#options = options;
    this.#presence = new Presence({ ...options, onChange: () => this.#offer() });
  }

  get owner(): string | undefined {
    return this.#presence.owner;
  }

  get isIdle(): boolean {
    return [...this.#drives.values()].every(({ isBusy }) => !isBusy);
  }

  /** Restate chooses who executes a run. */
  reserve(): undefined {
    return undefined;
  }

  serve(pool: Pool): void {
    if (!this.#pools.has(pool)) this.#pools.set(pool, new Turns());
    this.#presence.start();
    this.#offer();
    this.#letIn(pool);
    this.#sweeper ??= setInterval(() => this.#sweep(overdueMs), sweepEveryMs);
  }

  runnable(runId: string, due?: number): void {
    // The drive that parked the run sees to its wake-up.
    if (due !== undefined) return;
    const driving = this.#drives.get(runId);
    if (driving === undefined) this.#keep(this.#sendDue("id = $1", [runId]));
    else {
      driving.again = true;
      driving.waiters.wake();
    }
  }

  news(): void {}

  serves(kind: string): boolean {
    return this.#isStaying && this.#options.executor.poolOf(kind) !== undefined;
  }

  roomFor(kind: string): number {
    const pool = this.#options.executor.poolOf(kind);
    return pool === undefined ? 0 : roomOf(pool);
  }

  async drive(kind: string, runId: string, gone: AbortSignal): Promise<void> {
    for (let earlier = this.#drives.get(runId); earlier !== undefined; earlier = this.#drives.get(runId)) {
      await Promise.race([earlier.ended, aborted(gone)]);
      if (gone.aborted) return;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const driving: Driving = { ended, waiters: new Waiters(), again: false, isBusy: false };
    this.#drives.set(runId, driving);
    try {
      for (let isOver = false; !isOver; ) isOver = await this.#look(kind, runId, driving);
    } finally {
      this.#drives.delete(runId);
      resolve();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    for (const turns of this.#pools.values()) turns.end();
    const drives = [...this.#drives.values()];
    for (const { waiters } of drives) waiters.wake();
    await Promise.allSettled(drives.map(({ ended }) => ended));
    await Promise.allSettled(this.#sends);
    this.#options.endpoint.remove(this);
    await this.#presence.close();
  }

  get #isStaying(): boolean {
    return !this.#isClosed && !this.#options.executor.isDraining;
  }

  /** Does what there is to do for the run now. Resolves with whether that is all. */
  async #look(kind: string, runId: string, driving: Driving): Promise<boolean> {
    const pool = this.#options.executor.poolOf(kind);
    if (pool === undefined || !(await this.#reserved(pool, runId))) {
      // Others may have room, or stay.
      await this.#send(kind, runId);
      return true;
    }
    driving.again = false;
    const { run, left, epoch, owner, isElsewhere } = await this.#take(runId, pool, driving);
    if (run !== undefined) return false;
    if (isElsewhere) {
      await this.#send(kind, runId, { delayMs: elsewhereMs });
      return true;
    }
    if (owner !== undefined) {
      if (!(await this.#presence.isGone(owner))) await driving.waiters.wait(lookEveryMs);
      return false;
    }
    if (left === undefined) return !driving.again;
    if (left <= shortMs) await driving.waiters.wait(left + 1);
    // Once for this wait: a drive that comes for nothing leaves no further one behind.
    else await this.#send(kind, runId, { delayMs: Math.ceil(left), onceAs: `wake-${epoch}` });
    return left > shortMs && !driving.again;
  }

  /** Takes the run if it is due, and executes it, in a place that was reserved for it. */
  async #take(runId: string, pool: Pool, driving: Driving): Promise<Taken> {
    const { database, executor } = this.#options;
    const { owner } = this.#presence;
    driving.isBusy = true;
    try {
      let taken: Taken;
      try {
        if (owner === undefined) throw new AppError("unavailable", "This worker lost its lease.");
        taken = await database.call<Taken>("take_run", { run: runId, owner, ...claimOf(pool) });
      } finally {
        pool.reserved--;
      }
      if (taken.run !== undefined) await executor.execute(taken.run, owner, pool);
      return taken;
    } finally {
      driving.isBusy = false;
      this.#letIn(pool);
    }
  }

  /** Reserves a place in the pool; false if there is none for some time, or this worker leaves. */
  async #reserved(pool: Pool, runId: string): Promise<boolean> {
    const turns = this.#pools.get(pool);
    if (turns === undefined || !this.#isStaying) return false;
    if (turns.isEmpty && roomOf(pool) > 0) {
      pool.reserved++;
      return true;
    }
    const principal = await this.#principalOf(runId);
    if (!this.#isStaying) return false;
    // Ids begin with the time, so that what was accepted first comes first.
    const isReserved = turns.wait(roomWithinMs, principal, runId);
    // There may be room by now.
    this.#letIn(pool);
    return await isReserved;
  }

  /** Reserves the room of a pool for those who wait for it; one that leaves has none. */
  #letIn(pool: Pool): void {
    const turns = this.#pools.get(pool);
    if (!this.#isStaying) turns?.end();
    while (roomOf(pool) > 0 && turns?.next()) pool.reserved++;
  }

  async #principalOf(runId: string): Promise<string> {
    const rows = await this.#options.database.query<{ principal: string }>("SELECT principal FROM runs WHERE id = $1", [
      runId,
    ]);
    return rows[0]?.principal ?? "";
  }

  /** Serves what is worked on here, once this worker is known. */
  #offer(): void {
    if (this.#presence.owner === undefined || this.#isClosed) return;
    const { endpoint, log } = this.#options;
    endpoint.add(this);
    const kinds = [...this.#pools.keys()].flatMap(({ offer }) => Object.keys(offer.newest));
    void endpoint.serve(kinds).then(
      () => this.#sweep(0),
      (error) => log.error({ err: error }, "Restate cannot be served."),
    );
    this.#keep(this.#announce());
  }

  /** Asks for the runs that are due but under way nowhere: their sender died. */
  #sweep(overdue: number): void {
    if (!this.#isStaying) return;
    this.#keep(this.#announce());
    const { sql } = this.#options.database;
    const kinds = [...this.#pools.keys()].flatMap(({ offer }) => Object.keys(offer.newest));
    const condition = `kind = ANY ($1) AND due <= now_ms() - ${overdue} ORDER BY due LIMIT ${maxSwept}`;
    this.#keep(this.#sendDue(condition, [sql.array(kinds, "TEXT")], true));
  }

  /** Tells other workers what this one can execute; runs that paused for want of that go on. */
  async #announce(): Promise<void> {
    for (const { id, last } of await this.#presence.announce()) {
      this.#options.news.tell(id, { last });
      this.runnable(id);
    }
  }

  async #sendDue(condition: string, values: readonly unknown[], isOnce = false): Promise<void> {
    const { database, endpoint, ingress } = this.#options;
    const rows = await database.query<{ id: string; kind: string; epoch: string; due: string }>(
      `SELECT id, kind, epoch, due FROM run_rows WHERE due <= now_ms() AND ${condition}`,
      values,
    );
    const once = (row: (typeof rows)[number]) => ({ onceAs: `due-${row.epoch}-${row.due}` });
    for (const row of rows) {
      // What is asked for first comes first, as far as Restate keeps that.
      if (!(await ingress.send({ service: endpoint.serviceOf(row.kind), runId: row.id, ...(isOnce && once(row)) })))
        return;
    }
  }

  async #send(kind: string, runId: string, options: { delayMs?: number; onceAs?: string } = {}): Promise<void> {
    const { endpoint, ingress } = this.#options;
    if (await ingress.send({ service: endpoint.serviceOf(kind), runId, ...options })) return;
    // Restate repeats a drive that fails.
    throw new AppError("unavailable", "Restate cannot be reached.");
  }

  /** What fails is found by the next sweep. */
  #keep(sending: Promise<void>): void {
    const failed = logBug(this.#options.log, "Runs could not be asked for; the next sweep does.");
    const kept = sending.catch(failed).finally(() => this.#sends.delete(kept));
    this.#sends.add(kept);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
