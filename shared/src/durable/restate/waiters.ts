/** Whose turn it is to go on: names take turns, and of one name the lowest rank goes first. */
export type Turn = { readonly name: string; readonly rank: string };

/** Those who wait until something may have changed; all go on then, one after the other. */
export class Waiters {
  readonly #all = new Map<() => void, Turn>();

  /** Resolves when it is woken, or after this time. */
  async wait(milliseconds: number, turn: Turn = { name: "", rank: "" }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#all.set(resolve, turn);
    await promise;
    clearTimeout(timer);
    this.#all.delete(resolve);
  }

  /** Wakes them, `served` last among the names. */
  wake(served = ""): void {
    const byRank = [...this.#all].toSorted(([, one], [, other]) => (one.rank < other.rank ? -1 : 1));
    this.#all.clear();
    const turns = new Map<string, number>();
    const inTurn = byRank.map(([resolve, { name }]) => {
      const turn = turns.get(name) ?? 0;
      turns.set(name, turn + 1);
      return { resolve, turn, name, isEarlier: name <= served };
    });
    inTurn.sort((one, other) => {
      if (one.turn !== other.turn) return one.turn - other.turn;
      if (one.isEarlier !== other.isEarlier) return one.isEarlier ? 1 : -1;
      return one.name < other.name ? -1 : 1;
    });
    for (const { resolve } of inTurn) resolve();
  }
}
