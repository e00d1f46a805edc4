import { AppError, publicError } from "../../../core/errors.ts";
import { assertBodies, bodyOf, firstBody, versionMissing } from "../../../core/runs/bodies.ts";
import type { Log } from "../../../core/runs/engine.ts";
import type { RunDefinition } from "../../../core/runs/run.ts";
import type { Live } from "../../live.ts";
import { type Offer, offerOf } from "../../offer.ts";
import { Execution } from "../../replay/execution.ts";
import { Journal } from "../../replay/journal.ts";
import type { HeldConversations } from "../conversations.ts";
import type { Database } from "../database.ts";
import type { DatabaseClock } from "../database-clock.ts";
import type { News } from "../news.ts";
import type { RunRow } from "../run-row.ts";
import type { SharedProgress } from "../shared-progress.ts";
import { claimedRun } from "./claimed-run.ts";

/** A pool: kinds whose bodies share one limit on concurrency. */
export type Pool = {
  readonly definitions: Map<string, RunDefinition>;
  offer: Offer;
  concurrency: number;
  running: number;
  reserved: number;
  /** The principal whose run began last among those that had to wait: others come first. */
  served: string;
};

/** How many more bodies a pool has room for. */
export function roomOf({ concurrency, running, reserved }: Pool): number {
  return concurrency - running - reserved;
}

/** What executing runs needs. */
export type ExecutorOptions = {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly live: Live;
  readonly shared: Pick<SharedProgress, "show">;
  readonly conversations: Pick<HeldConversations, "enter" | "leave">;
  readonly news: News;
  readonly log: Log;
  readonly stopMs: number;
  /** The run can go on, now or at `due`. */
  readonly onRunnable: (runId: string, due?: number) => void;
};

type Held = { readonly execution: Execution; readonly n: string; readonly epoch: string };

/** Executes the bodies of runs that this process has claimed. */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #definitions = new Map<string, RunDefinition>();
  readonly #held = new Map<string, Held>();
  readonly #pools: { readonly shared: Pool; readonly dedicated: Pool } = {
    shared: emptyPool(),
    dedicated: emptyPool(),
  };
  #running = 0;
  #isDraining = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The keys of the runs held here. */
  get heldKeys(): readonly string[] {
    return [...this.#held.values()].map(({ n }) => n);
  }

  /** Everything that this process can execute. */
  get offer(): Offer {
    return offerOf(this.#definitions.values());
  }

  /** Adds these kinds to a pool, and returns it. */
  add(
    definitions: readonly RunDefinition[],
    { concurrency, dedicatedPool }: { concurrency: number; dedicatedPool: boolean },
  ): Pool {
    if (this.#isDraining) throw new AppError("unavailable", "This engine is closed.");
    const pool = dedicatedPool ? this.#pools.dedicated : this.#pools.shared;
    for (const definition of definitions) {
      assertBodies(definition);
      this.#definitions.set(definition.kind, definition);
      pool.definitions.set(definition.kind, definition);
    }
    pool.offer = offerOf(pool.definitions.values());
    pool.concurrency = concurrency;
    return pool;
  }

  poolOf(kind: string): Pool | undefined {
    return [this.#pools.shared, this.#pools.dedicated].find(({ definitions }) => definitions.has(kind));
  }

  /** Executes a run claimed by this owner until it ends, parks, or belongs to another. */
  async execute(row: RunRow, owner: string, pool: Pool): Promise<void> {
    pool.running++;
    this.#running++;
    this.#options.conversations.enter(row);
    try {
      await this.#execute(row, owner);
    } finally {
      await this.#options.conversations.leave(row);
      pool.running--;
      this.#running--;
    }
  }

  /** Whether this run is executed here. */
  holds(runId: string): boolean {
    return this.#held.has(runId);
  }

  /** Signals may have arrived for this run, if it is held here. */
  nudge(runId: string): boolean {
    const held = this.#held.get(runId);
    held?.execution.nudge();
    return held !== undefined;
  }

  /** The cancellation of this run is stored. */
  cancel(runId: string): void {
    this.#held.get(runId)?.execution.cancel();
  }

  /** Everything held here belongs to other workers now. */
  loseAll(): void {
    for (const { execution } of this.#held.values()) execution.lose();
  }

  /** Looks whether others canceled, signaled or took over any of these runs. */
  async catchUp(runIds: readonly string[] | "any"): Promise<void> {
    const held = runIds === "any" ? [...this.#held.entries()] : runIds.flatMap((id) => this.#entry(id));
    if (held.length === 0) return;
    const { database } = this.#options;
    const keys = database.sql.array(
      held.map(([, { n }]) => n),
      "INT8",
    );
    const rows = await database.query<{ run: string; owner: string | null; epoch: string; canceled: boolean }>(
      "SELECT run, owner, epoch, cancel_requested AS canceled FROM heads WHERE run = ANY ($1)",
      [keys],
    );
    const heads = new Map(rows.map((row) => [String(row.run), row]));
    for (const [id, { execution, n, epoch }] of held) {
      if (this.#held.get(id)?.execution !== execution) continue;
      const head = heads.get(n);
      // While it leaves by itself nobody owns it.
      if (head === undefined || String(head.epoch) !== epoch) execution.lose();
      else if (head.owner !== null && head.canceled) execution.cancel();
      else execution.nudge();
    }
  }

  /** Starts nothing more, gives the steps in flight `graceMs`, aborts the rest, hands all back. */
  async drain(graceMs: number, isIdle: () => boolean): Promise<void> {
    this.#isDraining = true;
    for (const { execution } of this.#held.values()) execution.drain();
    await this.#settledWithin(graceMs, isIdle);
    for (const { execution } of this.#held.values()) void execution.abandon();
    await this.#settledWithin(this.#options.stopMs + 1000, isIdle);
  }

  async #settledWithin(milliseconds: number, isIdle: () => boolean): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while ((this.#running > 0 || !isIdle()) && performance.now() < deadline) await Bun.sleep(5);
  }

  #entry(runId: string): [string, Held][] {
    const held = this.#held.get(runId);
    return held === undefined ? [] : [[runId, held]];
  }

  async #execute(row: RunRow, owner: string): Promise<void> {
    const { database, clock, live, shared, news, log, stopMs, onRunnable } = this.#options;
    const definition = this.#definitions.get(row.kind);
    if (definition === undefined) throw new Error(`Claimed a run of kind ${row.kind}.`);
    const [n, epoch] = [String(row.n), String(row.epoch)];
    let execution: Execution | undefined;
    /** The number of its last event. */
    let told = Number(row.last_event);
    const executed = live.execute(row.id, told);
    const store = claimedRun({
      claim: { n, owner, epoch },
      database,
      onCommitted(last, signaled) {
        told = Math.max(told, last);
        if (last > 0) news.tell(row.id, { last });
        for (const id of signaled) onRunnable(id);
      },
      onCanceled: () => execution?.cancel(),
      onParked: (wakeAt) => wakeAt !== undefined && onRunnable(row.id, wakeAt),
    });
    try {
      const journal = await Journal.load(store);
      execution = new Execution(journal, {
        runId: row.id,
        principal: row.principal,
        contextId: row.context_id,
        store,
        log,
        clock: () => clock.now(),
        stopMs,
        progress(event) {
          live.progress(row.id, event);
          shared.show(row.id, told, event);
        },
      });
      this.#held.set(row.id, { execution, n, epoch });
      if (this.#isDraining) execution.drain();
      // News that came before it was held here was for nobody.
      const leaseState = await store.leaseState();
      if (leaseState === "lost") execution.lose();
      else if (leaseState === "canceled") execution.cancel();
      const version = row.body ?? firstBody;
      const body = bodyOf(definition, version);
      if (body === undefined) execution.pause(versionMissing(definition, version));
      else execution.start(body, JSON.parse(row.input));
      const outcome = await execution.done;
      // What is held here is nudged; this is for others now.
      this.#leave(row.id, execution);
      if (outcome === "released") onRunnable(row.id);
    } catch (error) {
      if (!(error instanceof AppError)) log.error({ err: error }, "A claimed run could not be executed.");
      // Given back, a run that cannot be read would be claimed again without end.
      const left = error instanceof AppError ? store.release() : store.pause(publicError(error));
      await left.catch(() => undefined);
    } finally {
      this.#leave(row.id, execution);
      executed();
    }
  }

  /** The run is not held by this execution any more; perhaps by the next one. */
  #leave(runId: string, execution: Execution | undefined): void {
    if (this.#held.get(runId)?.execution === execution) this.#held.delete(runId);
  }
}

function emptyPool(): Pool {
  return { definitions: new Map(), offer: offerOf([]), concurrency: 0, running: 0, reserved: 0, served: "" };
}

/** What a worker offers to execute, as the schema's functions ask for it. */
export function claimOf({ offer: { keys, newest, missing } }: Pool) {
  return { kinds: Object.keys(newest), bodies: keys, newest, missing };
}
