import { type AppError, messageOf } from "../../../core/errors.ts";
import type { EngineHealth, Log } from "../../../core/runs/engine.ts";
import { isBusy, storageFailure, storageUnavailable } from "./storage-error.ts";

/** How long another process may hold the lock before that counts as a storage failure. */
export const busyPatienceMs = 5000;
/** The pause before something that failed is tried again, at first. */
export const firstRetryMs = 5;
const longestRetryMs = 2000;

/** What a failure and its end lead to. */
export type StorageWatchOptions = {
  readonly path: string;
  readonly log: Log;
  /** Try again what failed. Ends in `failed` or `worked`. */
  readonly onRetry: () => void;
  /** Nothing new is accepted from now on. */
  readonly onRefusing: () => void;
  /** The storage works again. */
  readonly onRecovered: () => void;
};

/**
 * Whether the storage works, as its uses show, and when what failed is tried again. A lock held by
 * another process counts as a failure only after some time.
 */
export class StorageWatch {
  readonly #options: StorageWatchOptions;
  #failure: { readonly reason: string; readonly cause: unknown } | undefined;
  #busySince: number | undefined;
  #retryMs = firstRetryMs;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: StorageWatchOptions) {
    this.#options = options;
  }

  /** Whether the storage failed and has not worked since. */
  get isFailing(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether something waits to be tried again. */
  get isPausing(): boolean {
    return this.#retryTimer !== undefined;
  }

  health(): EngineHealth {
    return this.isFailing ? { ok: false, reason: this.refusal().message } : { ok: true };
  }

  /** The error for those who are refused. */
  refusal(cause: unknown = this.#failure?.cause): AppError {
    return storageUnavailable(this.#failure?.reason ?? storageFailure(cause) ?? "it failed", cause);
  }

  failed(error: unknown): void {
    const busy = isBusy(error);
    this.#busySince = busy ? (this.#busySince ?? performance.now()) : undefined;
    if (!busy || performance.now() - (this.#busySince ?? 0) > busyPatienceMs) this.#refuse(error);
    if (this.#retryTimer !== undefined || this.#isClosed) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#options.onRetry();
    }, this.#retryMs);
    if (!busy) this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }

  worked(): void {
    this.#busySince = undefined;
    this.#retryMs = firstRetryMs;
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#options.log.warn({ path: this.#options.path }, "The run store works again.");
    this.#options.onRecovered();
  }

  /** Nothing is tried again. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
  }

  #refuse(error: unknown): void {
    const reason = storageFailure(error) ?? messageOf(error);
    if (this.#failure?.reason !== reason) {
      this.#options.log.error({ path: this.#options.path, reason, err: error }, "The run store is unavailable.");
    }
    this.#failure = { reason, cause: error };
    this.#options.onRefusing();
  }
}
