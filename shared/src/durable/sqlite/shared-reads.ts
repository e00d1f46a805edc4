import type { StoreConnection } from "./disk/connection.ts";
import type { Tables } from "./tables/tables.ts";

/** What a read has given, unless it must be made by itself. */
type Shared<T> = { readonly value: T } | undefined;

type Waiting = { readonly run: (tables: Tables) => unknown; readonly resolve: (read: Shared<never>) => void };

type ReadAlone = <T>(run: (tables: Tables) => T) => Promise<T>;

/**
 * Reads of one turn of the event loop, which share a transaction: beginning and ending one takes
 * several times as long as most of them.
 */
export class SharedReads {
  readonly #open: () => StoreConnection;
  readonly #readAlone: ReadAlone;
  #waiting: Waiting[] = [];

  /** `readAlone` makes a read that no other shares a turn with, or that failed among others. */
  constructor(open: () => StoreConnection, readAlone: ReadAlone) {
    this.#open = open;
    this.#readAlone = readAlone;
  }

  /** Reads at the end of this turn, together with the others of it. */
  async read<T>(run: (tables: Tables) => T): Promise<T> {
    const shared = await new Promise<Shared<T>>((resolve) => {
      if (this.#waiting.push({ run, resolve }) === 1) setImmediate(() => this.#readAll());
    });
    return shared === undefined ? await this.#readAlone(run) : shared.value;
  }

  #readAll(): void {
    const reads = this.#waiting;
    this.#waiting = [];
    const answers: Shared<unknown>[] = [];
    try {
      if (reads.length > 1) this.#readTogether(reads, answers);
    } catch {
      // Made anew by itself, each tells how it failed.
      answers.length = 0;
    }
    for (const [at, { resolve }] of reads.entries()) resolve(answers[at] as Shared<never>);
  }

  #readTogether(reads: readonly Waiting[], answers: Shared<unknown>[]): void {
    const connection = this.#open();
    connection.readTogether(() => {
      for (const { run } of reads) answers.push({ value: run(connection.tables) });
    });
  }
}
