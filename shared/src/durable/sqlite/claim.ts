import { firstBody } from "../../core/bodies.ts";
import type { RunRow } from "./tables/runs-table.ts";
import type { Lease } from "./tables/states-table.ts";

/** A run for this worker to execute, and its right to write it. */
export type Claim = {
  readonly id: string;
  readonly kind: string;
  readonly principal: string;
  readonly contextId: string;
  /** JSON text. */
  readonly input: string;
  /** The version of the body it began with. */
  readonly body: number;
  readonly lease: Lease;
  /** Present while the run is executed before it is known to be stored. */
  readonly acceptance?: Acceptance;
};

/**
 * Whether a run that is executed already has been stored. Its body may compute meanwhile, since
 * what it writes shares that commit; it waits before anything that has effects or can be seen.
 */
export class Acceptance {
  /** Its `n` is 0, which no run has, until the transaction that stores the run has assigned one. */
  readonly lease: { n: number; readonly owner: string; readonly epoch: number };
  /** Resolves to whether the run is stored and this worker's. */
  readonly settled: Promise<boolean>;
  #outcome: boolean | undefined;
  readonly #settle: (isOurs: boolean) => void;

  constructor(owner: string) {
    this.lease = { n: 0, owner, epoch: 1 };
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.settled = promise;
    this.#settle = resolve;
  }

  /** Undefined until it is settled. */
  get outcome(): boolean | undefined {
    return this.#outcome;
  }

  settle(isOurs: boolean): void {
    this.#outcome = isOurs;
    // A transaction that was rolled back may have assigned a number that another run has now.
    if (!isOurs) this.lease.n = 0;
    this.#settle(isOurs);
  }
}

/** The claim of a stored run. */
export function claimOf(row: RunRow, owner: string): Claim {
  const { n, id, kind, principal, context_id: contextId, input, epoch, body } = row;
  return { id, kind, principal, contextId, input, body: body ?? firstBody, lease: { n, owner, epoch } };
}
