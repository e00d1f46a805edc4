import type { CheckpointAnswer } from "./checkpoint-worker.ts";

/** After so many entries it is seen how long the log is. */
const entriesPerLook = 32;
/** The pages the event loop brings in itself, now and then, which takes a few milliseconds. */
const fewPages = 800;
/** The pages that gather while much is written: one that was written often is brought in once. */
const manyPages = 4_000;
/** See `busyMs`. */
const defaultBusyMs = 5_000;

/** What bringing the log into the file needs. */
export type LogCheckpointsOptions = {
  readonly path: string;
  /** Brings it in on this thread. */
  readonly checkpoint: () => void;
  /** How many pages of the log are not in the file. */
  readonly pages: () => number;
  /** Commits may go on after `isPausing`. */
  readonly onResumed: () => void;
  /** The other thread failed. */
  readonly onFailed: (error: Error) => void;
  /**
   * If `fewPages` are written within this time, more are waited for, and a thread brings them in,
   * which stays as long after it. Milliseconds; 5 s if left out.
   */
  readonly busyMs?: number;
};

/**
 * Brings the log into the store's file before SQLite would, which does it within a commit. What is
 * little the event loop does, and what is much a thread.
 */
export class LogCheckpoints {
  readonly #options: LogCheckpointsOptions;
  #unseen = 0;
  /** What the last one had to leave in the log, for a reader of it. */
  #left = 0;
  #since = performance.now();
  #worker: Worker | undefined;
  #underWay: Promise<void> | undefined;
  #isPausing = false;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: LogCheckpointsOptions) {
    this.#options = options;
  }

  /** Call it after each commit, with the number of its entries. */
  committed(entries: number): void {
    this.#unseen += entries;
    if (this.#unseen < entriesPerLook || this.#underWay !== undefined || this.#isClosed) return;
    this.#unseen = 0;
    const pages = this.#options.pages();
    this.#left = Math.min(this.#left, pages);
    const added = pages - this.#left;
    const isBusy = performance.now() - this.#since < (this.#options.busyMs ?? defaultBusyMs);
    if (added < (isBusy ? manyPages : fewPages)) return;
    if (added < 2 * fewPages) {
      this.#options.checkpoint();
      this.#done();
    } else this.#underWay = this.#inThread();
  }

  /** Whether another thread writes and syncs the store's file. */
  get isInThread(): boolean {
    return this.#underWay !== undefined;
  }

  /** Whether commits have to wait a moment, so that the log can begin anew. */
  get isPausing(): boolean {
    return this.#isPausing;
  }

  /** Resolves once no thread uses the store any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#underWay;
    this.#end();
  }

  /** Nearly all of it beside the commits that go on, then what they have added. */
  async #inThread(): Promise<void> {
    clearTimeout(this.#idle);
    this.#worker ??= new Worker(new URL("./checkpoint-worker.ts", import.meta.url).href);
    this.#worker.ref();
    let { error, code } = await this.#pass(this.#worker);
    if (error === undefined && !this.#isClosed) {
      this.#isPausing = true;
      ({ error, code } = await this.#pass(this.#worker));
      this.#isPausing = false;
    }
    this.#underWay = undefined;
    this.#worker.unref();
    this.#idle = setTimeout(() => this.#end(), this.#options.busyMs ?? defaultBusyMs);
    this.#idle.unref();
    this.#done();
    if (error !== undefined) {
      this.#end();
      this.#options.onFailed(Object.assign(new Error(error), { code }));
    }
    this.#options.onResumed();
  }

  #pass(worker: Worker): Promise<CheckpointAnswer> {
    const { promise, resolve } = Promise.withResolvers<CheckpointAnswer>();
    worker.onmessage = ({ data }: MessageEvent<CheckpointAnswer>) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: message });
    worker.postMessage(this.#options.path);
    return promise;
  }

  #done(): void {
    this.#since = performance.now();
    this.#left = this.#options.pages();
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
