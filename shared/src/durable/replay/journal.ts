import { AppError } from "../../core/errors.ts";
import { EmittedEvents } from "./emitted-events.ts";
import type { JournalRow, OperationKind, RunStore } from "./run-store.ts";

/**
 * The recorded operations of a run, handed out one by one. Rows leave memory as they are handed
 * out, so those remaining at the end are the ones the code no longer asks for.
 */
export class Journal {
  readonly #rows = new Map<string, JournalRow>();
  readonly #closed = new Set<string>();
  /** The events it emitted, which are not compared. */
  readonly emitted: EmittedEvents;

  private constructor(rows: readonly JournalRow[]) {
    this.emitted = new EmittedEvents(rows);
    for (const row of rows) if (row.kind !== "emit") this.#rows.set(row.path, row);
  }

  /** The journal of a run that has not begun. */
  static empty(): Journal {
    return new Journal([]);
  }

  static async load(store: RunStore): Promise<Journal> {
    return new Journal(await store.load());
  }

  /**
   * The row recorded at this path, if any. Throws `non_deterministic` if it belongs to another
   * operation.
   */
  take(path: string, kind: OperationKind, name: string): JournalRow | undefined {
    const row = this.#rows.get(path);
    if (row === undefined) return undefined;
    if (row.kind !== kind || row.name !== name) {
      throw nonDeterministic(`at ${path} it recorded ${row.kind} "${row.name}" and now asks for ${kind} "${name}"`);
    }
    this.#rows.delete(path);
    return row;
  }

  /**
   * Drops the rows below a race or a failed `all` that were not asked for, since its losers may
   * have stopped anywhere.
   */
  close(path: string): void {
    this.#closed.add(path);
  }

  /** Throws `non_deterministic` if the body ended without asking for an operation it did before. */
  assertAllTaken(): void {
    for (const row of this.#rows.values()) {
      if (!this.#isBelowClosed(row.path)) {
        throw nonDeterministic(`it recorded ${row.kind} "${row.name}" at ${row.path} and now ends without it`);
      }
    }
  }

  #isBelowClosed(path: string): boolean {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (this.#closed.has(path.slice(0, end))) return true;
    }
    return false;
  }
}

/** The error that pauses a run whose code does not match its journal. */
export function nonDeterministic(what: string): AppError {
  return new AppError(
    "non_deterministic",
    `The run's code changed: ${what}. Resume it with the code it was started with.`,
  );
}
