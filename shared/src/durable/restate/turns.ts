type Waiting = { readonly name: string; readonly rank: string; readonly resolve: (isTurn: boolean) => void };

/**
 * Those who wait for room. They go on one at a time: names take turns, in their order, and of one
 * name the lowest rank goes first. What a turn costs does not grow with how many wait.
 */
export class Turns {
  /** In the order of names and ranks. */
  readonly #waiting: Waiting[] = [];
  /** The name that had the last turn: others come first. */
  #served = "";

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves with true when it has a turn, with false after this time. */
  async wait(milliseconds: number, name: string, rank: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting = { name, rank, resolve };
    this.#waiting.splice(this.#placeOf(name, rank), 0, waiting);
    const timer = setTimeout(() => {
      const place = this.#waiting.indexOf(waiting, this.#placeOf(name, rank));
      if (place >= 0) this.#waiting.splice(place, 1);
      resolve(false);
    }, milliseconds);
    return await promise.finally(() => clearTimeout(timer));
  }

  /** Gives the next one its turn; false if nobody waits. */
  next(): boolean {
    // After the last of its name, whose ranks are ids.
    const after = this.#placeOf(this.#served, "\u{10ffff}");
    const [first] = this.#waiting.splice(after < this.#waiting.length ? after : 0, 1);
    if (first === undefined) return false;
    this.#served = first.name;
    first.resolve(true);
    return true;
  }

  /** Nobody gets another turn. */
  end(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }

  /** The first place that does not come before this name and rank. */
  #placeOf(name: string, rank: string): number {
    let [from, to] = [0, this.#waiting.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const one = this.#waiting[middle];
      const isBefore = one !== undefined && (one.name < name || (one.name === name && one.rank < rank));
      if (isBefore) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
