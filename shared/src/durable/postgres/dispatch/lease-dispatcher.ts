import { AppError } from "../../../core/errors.ts";
import { firstBody } from "../../../core/runs/bodies.ts";
import type { RunRow } from "../run-row.ts";
import type { Dispatcher, DispatcherDeps, Seat } from "./dispatcher.ts";
import { claimOf, type Pool, roomOf } from "./executor.ts";
import { Presence } from "./presence.ts";

const longestTimerMs = 2 ** 31 - 1;

/** Shares the runs out by PostgreSQL alone: workers claim what is due. */
export class LeaseDispatcher implements Dispatcher {
  readonly #options: DispatcherDeps;
  readonly #pools = new Set<Pool>();
  readonly #presence: Presence;
  readonly #wakers = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;
  #isClaiming = false;
  #claimAgain = false;
  /** Runs may have been given to this worker without its knowledge: an answer was lost. */
  #isUnsure = false;

  constructor(options: DispatcherDeps) {
    this.#options = options;
    this.#presence = new Presence({ ...options, onChange: () => this.#wake() });
  }

  get owner(): string | undefined {
    return this.#presence.owner;
  }

  get isIdle(): boolean {
    return !this.#isClaiming && [...this.#pools].every(({ reserved }) => reserved === 0);
  }

  serve(pool: Pool): void {
    this.#pools.add(pool);
    this.#presence.start();
    this.#wake();
  }

  reserve(kind: string): Seat | undefined {
    const { owner } = this.#presence;
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
    for (const waker of this.#wakers) clearTimeout(waker);
    await this.#presence.close();
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
        const { owner } = this.#presence;
        if (executor.isDraining || owner === undefined) return;
        if (this.#isUnsure) await this.#handBackUnknown(owner);
        for (const pool of this.#pools) if (roomOf(pool) > 0) await this.#claim(owner, pool);
        await this.#announce();
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
    const claim = { ...claimOf(pool), owner, limit: roomOf(pool), served: pool.served };
    const rows = await database.call<readonly RunRow[]>("claim_fairly", claim);
    pool.served = rows.at(-1)?.principal ?? pool.served;
    for (const row of rows) this.#begin(row, owner, pool);
  }

  /** Tells other workers what this one can execute; runs that paused for want of that go on. */
  async #announce(): Promise<void> {
    for (const { id, last } of await this.#presence.announce()) {
      this.#claimAgain = true;
      this.#options.news.tell(id, { last, isClaimable: true });
    }
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
