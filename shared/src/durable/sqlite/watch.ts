/**
 * Notices commits of other processes by polling a counter of the file, but only while someone in
 * this process needs it.
 */
export class Watch {
  readonly #options: WatchOptions;
  #needs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #version: number | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Polls until the returned function is called. */
  need(): () => void {
    if (this.#needs++ === 0 && !this.#isClosed) {
      this.#version = this.#options.version();
      this.#timer = setInterval(() => this.#poll(), this.#options.pollMs);
    }
    let needed = true;
    return () => {
      if (needed && --this.#needs === 0) clearInterval(this.#timer);
      needed = false;
    };
  }

  /** Stops polling for good. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #poll(): void {
    const version = this.#options.version();
    if (version !== undefined && version !== this.#version) {
      this.#version = version;
      this.#options.onChange();
    }
    this.#options.onTick();
  }
}

/** How to notice changes of the store by other processes, and whom to tell. */
export type WatchOptions = {
  readonly pollMs: number;
  /** Undefined while it cannot be read. */
  readonly version: () => number | undefined;
  readonly onChange: () => void;
  readonly onTick: () => void;
};
