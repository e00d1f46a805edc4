import { AppError } from "../../../core/errors.ts";
import { firstBody } from "../../../core/runs/bodies.ts";
import type { RunRow } from "../run-row.ts";
import type { Dispatcher, DispatcherDeps, Seat } from "./dispatcher.ts";
import { claimOf, type Pool, roomOf } from "./executor.ts";
import { Presence } from "./presence.ts";

const longestTimerMs = 2 ** 31 - 1;
const firstHinderedMs = 5;
const longestHinderedMs = 500;

/**
 * Claims, and says whether there was room for more that this worker can have. A claim leaves alone
 * what another transaction has in hand, which need not claim it: it may look for other bodies.
 */
const claimText = `
  WITH claimed AS MATERIALIZED (SELECT claim_fairly($1::text) AS answer)
  SELECT answer, CASE WHEN json_array_length(answer::json) < ($1::json->>'limit')::int THEN EXISTS (
    SELECT FROM runs JOIN heads ON heads.run = runs.n
      WHERE runs.due <= (SELECT now_ms())
        AND runs.kind = ANY (ARRAY(SELECT json_array_elements_text($1::json->'kinds')))
        AND body_key(runs.kind, runs.body, heads.epoch)
          = ANY (ARRAY(SELECT json_array_elements_text($1::json->'bodies')))
        AND NOT is_elsewhere(runs.kind, runs.principal, runs.context_id, $1::json->>'owner')
        AND NOT runs.n = ANY (ARRAY(SELECT (given->>'n')::bigint FROM json_array_elements(claimed.answer::json) AS given))
  ) ELSE false END AS is_left FROM claimed`;

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
  /** How long what others have in hand is left to them before the next look. */
  #hinderedMs = firstHinderedMs;

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
    this.#wakeIn(Math.min(longestTimerMs, Math.max(0, due - this.#options.clock.now()) + 1));
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

  #wakeIn(ms: number): void {
    const waker = setTimeout(() => {
      this.#wakers.delete(waker);
      this.#wake();
    }, ms);
    this.#wakers.add(waker);
  }

  async #claimAll(): Promise<void> {
    const { executor, log } = this.#options;
    try {
      while (this.#claimAgain) {
        this.#claimAgain = false;
        const { owner } = this.#presence;
        if (executor.isDraining || owner === undefined) return;
        if (this.#isUnsure) await this.#handBackUnknown(owner);
        // Others must know what this worker can execute before it begins a run of that.
        await this.#announce();
        let isLeft = false;
        for (const pool of this.#pools) if (roomOf(pool) > 0 && (await this.#claim(owner, pool))) isLeft = true;
        this.#lookAgain(isLeft);
      }
    } catch (error) {
      this.#isUnsure = true;
      if (!(error instanceof AppError)) log.error({ err: error }, "Runs could not be claimed.");
    } finally {
      this.#isClaiming = false;
    }
  }

  /** Begins what is claimed; returns whether others had something in hand that was left to them. */
  async #claim(owner: string, pool: Pool): Promise<boolean> {
    const claim = { ...claimOf(pool), owner, limit: roomOf(pool), served: pool.served };
    const answers = await this.#options.database.query<{ answer: string; is_left: boolean }>(claimText, [
      JSON.stringify(claim),
    ]);
    const rows: readonly RunRow[] = JSON.parse(answers[0]?.answer ?? "[]");
    pool.served = rows.at(-1)?.principal ?? pool.served;
    for (const row of rows) this.#begin(row, owner, pool);
    return answers[0]?.is_left === true;
  }

  /** What was left to others may soon be nobody's, and they tell no one. */
  #lookAgain(isLeft: boolean): void {
    if (isLeft && !this.#isClosed) this.#wakeIn(this.#hinderedMs);
    this.#hinderedMs = isLeft ? Math.min(this.#hinderedMs * 2, longestHinderedMs) : firstHinderedMs;
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
