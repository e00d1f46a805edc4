import type { Database } from "./database.ts";

/**
 * The clock of runs: the database's, which all processes share, whatever their machines' clocks are
 * set to. It runs evenly in between and never goes back within a process.
 */
export class DatabaseClock {
  /**
   * What is added to the process's clock. Until the database is asked, the machine's clock counts.
   */
  #offset = performance.timeOrigin;
  #last = 0;

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(this.#offset + performance.now()));
    return this.#last;
  }

  /** Learns the database's time. */
  async learn(database: Database): Promise<void> {
    const asked = performance.now();
    const [row] = await database.query<{ now: string }>("SELECT now_ms() AS now");
    const answered = performance.now();
    if (row !== undefined) this.#offset = Number(row.now) - (asked + answered) / 2;
  }
}
