import type { RunEvent } from "../../core/runs/run.ts";

/** How many progress items are held back while the storage is slow. */
const maxHeld = 1000;

/** Shows progress only after the events emitted before it, which may not be committed yet. */
export class ProgressOrder {
  readonly #show: (event: RunEvent) => void;
  readonly #hurry: () => void;
  #committing = 0;
  #waiting: { readonly event: RunEvent; readonly isCurrent: () => boolean }[] = [];

  /** `hurry` has queued events committed soon. */
  constructor(show: (event: RunEvent) => void, hurry: () => void) {
    this.#show = show;
    this.#hurry = hurry;
  }

  /** Shows nothing until `commit` settles. */
  after(commit: Promise<unknown>): void {
    this.#committing++;
    const committed = () => {
      if (--this.#committing > 0) return;
      for (const { event, isCurrent } of this.#waiting.splice(0)) if (isCurrent()) this.#show(event);
    };
    commit.then(committed, committed);
  }

  /**
   * Shows the event now or after the current commit, if it is still current then: a step's progress
   * is never shown after its end.
   */
  show(event: RunEvent, isCurrent: () => boolean): void {
    if (this.#committing === 0) this.#show(event);
    else if (this.#waiting.length < maxHeld) {
      this.#waiting.push({ event, isCurrent });
      this.#hurry();
    }
  }
}
