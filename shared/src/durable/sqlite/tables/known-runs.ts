/** The right to write a run: held by the worker that claimed it, for that claim. */
export type Lease = { readonly n: number; readonly owner: string; readonly epoch: number };

/** What the row of a run says whose lease holds: whether it is to be canceled. */
export type HeldRun = { readonly cancel_requested: number };

type Known = HeldRun & Omit<Lease, "n"> & { isUnwatched: boolean };

/**
 * What transactions of one connection have found in the store about the runs it holds, so that the
 * next ones need not look again. It holds until somebody else commits, which SQLite tells each
 * connection (`PRAGMA data_version`), or until this connection changes the run or undoes anything.
 * Outside of a transaction nothing is known, since others may commit at any time.
 */
export class KnownRuns {
  readonly #runs = new Map<number, Known>();
  #version: number | undefined;
  #isInTransaction = false;

  /** A transaction has begun, in which the store has this data version. */
  begun(version: number): void {
    if (version !== this.#version) this.forgetAll();
    this.#version = version;
    this.#isInTransaction = true;
  }

  /** The transaction is over. */
  ended(): void {
    this.#isInTransaction = false;
  }

  /** What was found for this lease; undefined if it is not known to hold. */
  heldBy({ n, owner, epoch }: Lease): HeldRun | undefined {
    const known = this.#at(n);
    return known?.owner === owner && known.epoch === epoch ? known : undefined;
  }

  /** The lease holds. */
  noteHeld({ n, owner, epoch }: Lease, { cancel_requested }: HeldRun): void {
    if (this.#isInTransaction) this.#runs.set(n, { owner, epoch, cancel_requested, isUnwatched: false });
  }

  /** Whether it is known that no run watches this one. */
  isUnwatched(n: number): boolean {
    return this.#at(n)?.isUnwatched ?? false;
  }

  /** No run watches this one. */
  noteUnwatched(n: number): void {
    const known = this.#at(n);
    if (known !== undefined) known.isUnwatched = true;
  }

  /** The run is about to change hands, to be canceled, watched or deleted, or to end. */
  forget(n: number): void {
    this.#runs.delete(n);
  }

  /** Anything may have changed: many runs change hands, or a part of a transaction was undone. */
  forgetAll(): void {
    this.#runs.clear();
  }

  #at(n: number): Known | undefined {
    return this.#isInTransaction ? this.#runs.get(n) : undefined;
  }
}
