import { AppError, publicError } from "../../../core/errors.ts";
import { assertBodies, bodyOf, newestBody, versionMissing } from "../../../core/runs/bodies.ts";
import type { Log } from "../../../core/runs/engine.ts";
import type { RunDefinition, RunEvent } from "../../../core/runs/run.ts";
import type { Live } from "../../live.ts";
import { offerOf } from "../../offer.ts";
import { Execution, type ExecutionOutcome } from "../../replay/execution.ts";
import { Journal } from "../../replay/journal.ts";
import type { RunClock } from "../run-clock.ts";
import { storedOffer } from "../tables/claims-table.ts";
import type { RunRow } from "../tables/runs-table.ts";
import type { Watch } from "../watch.ts";
import type { Writer } from "../writer.ts";
import { type Claim, claimOf } from "./claim.ts";
import { Heartbeat } from "./heartbeat.ts";
import { leasedRun } from "./leased-run.ts";
import { announce, claim, type Told } from "./offers.ts";
import { emptyPool, type Pool, roomOf } from "./pool.ts";

/** What a worker needs to claim and execute runs. */
export type WorkerOptions = {
  readonly writer: Writer;
  readonly live: Live;
  readonly watch: Watch;
  readonly log: Log;
  readonly clock: RunClock;
  readonly leaseMs: number;
  readonly stopMs: number;
};

/**
 * A reserved place for one run in this worker: start it once it is accepted for this owner, or
 * while it is, then leave. `body` is the version of the body it begins with.
 */
export type Seat = { readonly owner: string; readonly body: number; begin(claim: Claim): void; leave(): void };

type Held = { readonly execution: Execution } & Pick<Claim, "lease" | "acceptance">;

/**
 * Claims runs of its kinds and executes their bodies, each until it ends, parks, or belongs to
 * another worker.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #heartbeat: Heartbeat;
  readonly #definitions = new Map<string, RunDefinition>();
  readonly #held = new Map<string, Held>();
  readonly #running = new Set<Promise<void>>();
  readonly #sharedPool = emptyPool();
  readonly #dedicatedPool = emptyPool();
  /** What both pools offer. */
  #offer = storedOffer(offerOf([]));
  /** What other workers know of this one: its id and the keys of its offer. */
  #announced = "";
  #claiming = false;
  #claimAgain = false;
  #draining = false;
  #nextDue: number | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat({
      ...options,
      onDeclaredDead: () => {
        for (const { execution } of this.#held.values()) execution.lose();
      },
      onClaimable: () => this.wake(),
    });
  }

  /** Adds these kinds; with `dedicatedPool` they take no room from the others. */
  add(
    definitions: readonly RunDefinition[],
    { concurrency, dedicatedPool }: { concurrency: number; dedicatedPool: boolean },
  ): void {
    if (this.#draining) throw new AppError("unavailable", "This engine is closed.");
    const pool = dedicatedPool ? this.#dedicatedPool : this.#sharedPool;
    for (const definition of definitions) {
      assertBodies(definition);
      this.#definitions.set(definition.kind, definition);
      pool.definitions.set(definition.kind, definition);
    }
    pool.offer = storedOffer(offerOf(pool.definitions.values()));
    this.#offer = storedOffer(offerOf(this.#definitions.values()));
    pool.concurrency = concurrency;
    if (this.#stopWatching === undefined) {
      this.#stopWatching = this.#options.watch.need();
      this.#heartbeat.start();
    }
    this.wake();
  }

  /**
   * Reserves a place for a run that is about to be accepted; undefined while other runs may be
   * claimable, or without capacity.
   */
  reserve(kind: string): Seat | undefined {
    const owner = this.#heartbeat.id;
    const pool = [this.#sharedPool, this.#dedicatedPool].find(({ definitions }) => definitions.has(kind));
    const definition = pool?.definitions.get(kind);
    if (owner === undefined || pool === undefined || definition === undefined) return undefined;
    if (this.#draining || this.#claiming || roomOf(pool) <= 0) return undefined;
    pool.reserved++;
    let isTaken = false;
    return {
      owner,
      body: newestBody(definition),
      begin: (claim) => {
        isTaken = true;
        this.#begin(claim, pool);
      },
      leave: () => {
        pool.reserved--;
        if (!isTaken) this.wake();
      },
    };
  }

  /** There may be something to claim. */
  wake(): void {
    this.#claimAgain = true;
    if (this.#claiming) return;
    this.#claiming = true;
    this.#claimAll().catch((error) => this.#logUnlessStorage(error, "Runs could not be claimed."));
  }

  /** A signal for this run is stored. */
  signaled(runId: string): void {
    const held = this.#held.get(runId);
    if (held === undefined) this.wake();
    else held.execution.nudge();
  }

  /** The cancellation of this run is stored. */
  canceled(runId: string): void {
    this.#held.get(runId)?.execution.cancel();
  }

  /** Time has passed, so a sleep may be over. */
  tick(): void {
    if (this.#nextDue !== undefined && this.#options.clock.now() >= this.#nextDue) this.wake();
  }

  /** Other processes changed something: runs may be canceled, signaled, taken over, or new. */
  async catchUp(): Promise<void> {
    const owner = this.#heartbeat.id;
    if (owner === undefined) return;
    try {
      await this.#options.writer.read(
        (tables) => {
          const owned = new Map(tables.claims.owned(owner).map((run) => [run.id, run]));
          for (const [id, { execution, lease, acceptance }] of this.#held) {
            if (acceptance !== undefined && acceptance.outcome === undefined) continue;
            const run = owned.get(id);
            if (run?.epoch !== lease.epoch) execution.lose();
            else if (run.cancel_requested === 1) execution.cancel();
            else if (execution.waiting.wantedSignals().some((name) => tables.signals.isFree(lease.n, name))) {
              execution.nudge();
            }
          }
        },
        { early: true },
      );
    } catch (error) {
      this.#logUnlessStorage(error, "The state of this worker's runs could not be read.");
    }
    this.wake();
  }

  /**
   * Starts nothing more, gives the steps in flight `graceMs`, aborts the rest, and hands every run
   * back.
   */
  async close(graceMs: number): Promise<void> {
    this.#draining = true;
    for (const { execution } of this.#held.values()) execution.drain();
    await this.#settledWithin(graceMs);
    for (const { execution } of this.#held.values()) void execution.abandon();
    await this.#settledWithin(this.#options.stopMs + 1000);
    this.#stopWatching?.();
    await this.#heartbeat.stop();
  }

  async #settledWithin(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    const isBusy = () =>
      this.#claiming || this.#sharedPool.reserved + this.#dedicatedPool.reserved > 0 || this.#running.size > 0;
    while (isBusy() && performance.now() < deadline) await Bun.sleep(5);
  }

  async #claimAll(): Promise<void> {
    try {
      while (this.#claimAgain) {
        this.#claimAgain = false;
        const owner = this.#heartbeat.id;
        if (this.#draining || owner === undefined) return;
        for (const pool of [this.#sharedPool, this.#dedicatedPool]) {
          const room = roomOf(pool);
          pool.mayHaveMore = true;
          if (room <= 0) continue;
          for (const row of await this.#claim(owner, pool, room)) this.#begin(claimOf(row, owner), pool);
        }
        await this.#announce(owner);
      }
    } finally {
      this.#claiming = false;
    }
  }

  #begin(claim: Claim, pool: Pool): void {
    pool.running++;
    const running = this.#execute(claim).then((outcome) => {
      pool.running--;
      this.#running.delete(running);
      // A run that has ended makes room, and nothing else claimable; one that is parked is due some
      // time.
      if (outcome !== "ended" || pool.mayHaveMore) this.wake();
    });
    this.#running.add(running);
  }

  async #claim(owner: string, pool: Pool, limit: number): Promise<readonly RunRow[]> {
    const { writer, clock } = this.#options;
    const { offer, definitions } = pool;
    const any = await writer.read(
      (tables) => {
        this.#nextDue = tables.claims.nextDue();
        const now = clock.moment();
        return tables.claims.any(offer, now) || tables.claims.stranded(offer, now).length > 0;
      },
      { early: true },
    );
    pool.mayHaveMore = any;
    if (!any) return [];
    const request = { owner, limit, definitions, served: pool.served };
    const { rows, told } = await writer.offer((tables) => claim(tables, offer, request, clock.moment()));
    pool.mayHaveMore = rows.length + told.length >= limit;
    pool.served = rows.at(-1)?.principal ?? pool.served;
    this.#tell(told);
    return rows;
  }

  async #announce(owner: string): Promise<void> {
    const { writer, clock } = this.#options;
    const offer = this.#offer;
    const announced = `${owner} ${offer.keys}`;
    if (this.#announced === announced) return;
    const resumed = await writer.offer((tables) => announce(tables, owner, offer, clock.moment()));
    this.#announced = announced;
    if (resumed.length > 0) this.#claimAgain = true;
    this.#tell(resumed);
  }

  #tell(told: readonly Told[]): void {
    for (const { id, seq } of told) this.#options.live.committed(id, seq);
  }

  async #execute(claim: Claim): Promise<ExecutionOutcome | undefined> {
    const { writer, live, log, clock, stopMs } = this.#options;
    const { id, kind, principal, contextId, lastEvent = 0, lease, acceptance } = claim;
    const store = leasedRun({ lease, acceptance, writer, clock, onEvents: (seq) => live.committed(id, seq) });
    const executed = live.execute(id, lastEvent);
    try {
      const definition = this.#definitions.get(kind);
      if (definition === undefined) throw new Error(`Claimed a run of kind ${kind}.`);
      const journal = acceptance === undefined ? await Journal.load(store) : Journal.empty();
      const progress = (event: RunEvent) => live.progress(id, event);
      const about = { runId: id, principal, contextId };
      const execution = new Execution(journal, { ...about, store, log, clock: () => clock.now(), stopMs, progress });
      this.#held.set(id, { execution, ...claim });
      if (this.#draining) execution.drain();
      if (acceptance !== undefined) execution.waitFor(acceptance.settled);
      else if ((await store.leaseState()) === "canceled") execution.cancel();
      const body = bodyOf(definition, claim.body);
      if (body === undefined) execution.pause(versionMissing(definition, claim.body));
      else execution.start(body, JSON.parse(claim.input));
      return await execution.done;
    } catch (error) {
      this.#logUnlessStorage(error, "A claimed run could not be executed.");
      // Given back, a run that cannot be read would be claimed again without end.
      const left = error instanceof AppError ? store.release() : store.pause(publicError(error));
      await left.catch(() => undefined);
      return undefined;
    } finally {
      this.#held.delete(id);
      executed();
    }
  }

  #logUnlessStorage(error: unknown, message: string): void {
    if (!(error instanceof AppError)) this.#options.log.error({ err: error }, message);
  }
}
