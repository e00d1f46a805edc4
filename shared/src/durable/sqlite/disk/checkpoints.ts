import type { CheckpointAnswer } from "./checkpoint-worker.ts";

/**
 * How many pages are written, about one for each entry, before the log is brought into the file.
 */
const checkpointPages = 800;
/** The pages that each commit writes again, besides those of its entries. */
const pagesPerCommit = 8;
/** Larger entries fill more pages, so it is seen after so many commits how long the log is. */
const commitsPerLook = 32;
const longestLog = 4_000;
/** See `busyMs`. */
const defaultBusyMs = 5_000;
/** How long the event loop may stand still. */
const quickMs = 3;
/** By what factor the expected duration shrinks with each checkpoint in the other thread. */
const decay = 15 / 16;

/** What bringing the log into the file needs. */
export type LogCheckpointsOptions = {
  readonly path: string;
  /** Brings it in on this thread. */
  readonly checkpoint: () => void;
  /** How many pages the log has. */
  readonly pages: () => number;
  /** Commits may go on after `isPausing`. */
  readonly onResumed: () => void;
  /** The other thread failed. */
  readonly onFailed: (error: Error) => void;
  /**
   * If `checkpointPages` are written within this time and bringing them in takes long, a thread
   * does it, which stays as long after it. Milliseconds; 5 s if left out.
   */
  readonly busyMs?: number;
};

/**
 * Brings the log into the store's file before SQLite would, which does it within a commit. The
 * event loop does it; while much is written, a thread does it for a while after one that kept the
 * event loop waiting.
 */
export class LogCheckpoints {
  readonly #options: LogCheckpointsOptions;
  #written = 0;
  #commits = 0;
  #since = performance.now();
  #worker: Worker | undefined;
  #underWay: Promise<void> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #expectedMs = 0;
  #isPausing = false;

  constructor(options: LogCheckpointsOptions) {
    this.#options = options;
  }

  /** Call it after each commit, with the number of its entries. */
  committed(entries: number): void {
    this.#written += pagesPerCommit + entries;
    this.#commits = (this.#commits + 1) % commitsPerLook;
    if (this.#underWay !== undefined || this.#isClosed) return;
    const isLong = this.#commits === 0 && this.#options.pages() > longestLog;
    if (this.#written < checkpointPages && !isLong) return;
    const isBusy = performance.now() - this.#since < (this.#options.busyMs ?? defaultBusyMs);
    this.#written = 0;
    this.#since = performance.now();
    if (!isBusy || this.#expectedMs <= quickMs || this.#options.path === ":memory:") this.#here();
    else
      this.#underWay = this.#inThread().finally(() => {
        this.#underWay = undefined;
      });
  }

  #here(): void {
    const begun = performance.now();
    this.#options.checkpoint();
    this.#expectedMs = performance.now() - begun;
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
    this.#expectedMs *= decay;
    clearTimeout(this.#idle);
    this.#worker ??= new Worker(new URL("./checkpoint-worker.ts", import.meta.url).href);
    this.#worker.ref();
    let { error, code } = await this.#pass(this.#worker);
    if (error === undefined && !this.#isClosed) {
      this.#isPausing = true;
      ({ error, code } = await this.#pass(this.#worker));
      this.#isPausing = false;
    }
    this.#worker.unref();
    if (error === undefined) {
      this.#idle = setTimeout(() => this.#end(), this.#options.busyMs ?? defaultBusyMs);
      this.#idle.unref();
    } else {
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

  #end(): void {
    clearTimeout(this.#idle);
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
