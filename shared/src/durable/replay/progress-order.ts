import type { RunEvent } from "../run.ts";

/** Progress kept back at most, while the storage takes long. */
const kept = 1000;

/** Shows progress only after the events that were emitted before it, which are still on their way to the store. */
export class ProgressOrder {
  readonly #show: (event: RunEvent) => void;
  #committing = 0;
  #waiting: RunEvent[] = [];

  constructor(show: (event: RunEvent) => void) {
    this.#show = show;
  }

  /** Shows nothing until `commit` settles. */
  after(commit: Promise<unknown>): void {
    this.#committing++;
    const committed = () => {
      if (--this.#committing > 0) return;
      for (const event of this.#waiting.splice(0)) this.#show(event);
    };
    commit.then(committed, committed);
  }

  show(event: RunEvent): void {
    if (this.#committing === 0) this.#show(event);
    else if (this.#waiting.length < kept) this.#waiting.push(event);
  }
}
