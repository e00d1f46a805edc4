import { AppError } from "../../../core/errors.ts";
import type { Log } from "../../../core/runs/engine.ts";
import { isGone, ownIdentity } from "../process-identity.ts";
import type { RunClock } from "../run-clock.ts";
import type { Tables } from "../tables/tables.ts";
import type { WorkerRow } from "../tables/workers-table.ts";
import type { Writer } from "../writer.ts";

/** How many beats a lease lasts. */
const beatsPerLease = 5;
const looksPerBeat = 4;

/** What a worker's heartbeat needs. */
export type HeartbeatOptions = {
  readonly writer: Writer;
  readonly log: Log;
  readonly clock: RunClock;
  readonly leaseMs: number;
  /** Other workers declared this one dead and own everything it held. */
  readonly onDeclaredDead: () => void;
  /**
   * There may be runs to claim: this worker was registered, or it returned a dead worker's runs to
   * the queue.
   */
  readonly onClaimable: () => void;
};

type Observation = { beat: number; unmovedMs: number };

/**
 * Shows that this worker is alive and detects dead ones: at once if a process of this machine is
 * gone, otherwise when a worker's counter has not moved for a lease. Time counts only while this
 * process is awake and the store writable, so that a suspended machine, a full disk or a changed
 * clock never makes a live worker look dead.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #identity = ownIdentity();
  readonly #seen = new Map<string, Observation>();
  readonly #lookMs: number;
  #id: string = crypto.randomUUID();
  #registered = false;
  #looks = 0;
  #lastLook = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#lookMs = options.leaseMs / beatsPerLease / looksPerBeat;
  }

  /** This worker's id in the store; undefined until it is registered. */
  get id(): string | undefined {
    return this.#registered ? this.#id : undefined;
  }

  start(): void {
    this.#lastLook = performance.now();
    void this.#look();
  }

  /**
   * Removes this worker from the store, if that is writable. Its runs must have been handed back
   * before.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (!this.#registered) return;
    await this.#options.writer.offer((tables) => tables.workers.remove(this.#id)).catch(() => undefined);
  }

  async #look(): Promise<void> {
    try {
      if (this.#looks++ % looksPerBeat === 0 || !this.#registered) await this.#beat();
      const now = performance.now();
      const awakeMs = Math.min(now - this.#lastLook, 2 * this.#lookMs);
      this.#lastLook = now;
      await this.#takeOver(await this.#options.writer.read((tables) => tables.workers.all(), { early: true }), awakeMs);
    } catch (error) {
      // While the storage fails, it fails for others too: their silence means nothing.
      this.#seen.clear();
      if (!(error instanceof AppError)) this.#options.log.error({ err: error }, "A heartbeat failed.");
    }
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#look(), this.#lookMs);
  }

  async #beat(): Promise<void> {
    const { writer, clock, onDeclaredDead } = this.#options;
    clock.notice();
    const alive = (tables: Tables) => {
      tables.clock.put(clock.reading());
      return tables.workers.beat(this.#id);
    };
    if (this.#registered && (await writer.offer(alive))) return;
    if (this.#registered) {
      this.#registered = false;
      this.#id = crypto.randomUUID();
      onDeclaredDead();
    }
    await writer.offer((tables) => {
      tables.clock.put(clock.reading());
      tables.workers.insert(this.#id, this.#identity);
    });
    this.#registered = true;
    this.#options.onClaimable();
  }

  async #takeOver(workers: readonly WorkerRow[], awakeMs: number): Promise<void> {
    const others = workers.filter((worker) => worker.id !== this.#id);
    const dead = others.filter(
      (worker) => isGone(worker, this.#identity) || this.#unmovedMs(worker, awakeMs) > this.#options.leaseMs,
    );
    for (const worker of dead) {
      this.#seen.delete(worker.id);
      const removed = await this.#options.writer.offer((tables) => {
        const unmoved = tables.workers.removeUnmoved(worker.id, worker.beat);
        if (unmoved) tables.claims.handBack(worker.id, this.#options.clock.moment());
        return unmoved;
      });
      if (removed)
        this.#options.log.warn({ worker: worker.id, pid: worker.pid }, "A worker is gone; its runs continue here.");
    }
    if (dead.length > 0) this.#options.onClaimable();
  }

  #unmovedMs(worker: WorkerRow, awakeMs: number): number {
    const seen = this.#seen.get(worker.id);
    if (seen === undefined || seen.beat !== worker.beat) {
      this.#seen.set(worker.id, { beat: worker.beat, unmovedMs: 0 });
      return 0;
    }
    seen.unmovedMs += awakeMs;
    return seen.unmovedMs;
  }
}
