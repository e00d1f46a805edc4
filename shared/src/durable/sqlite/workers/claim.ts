import { firstBody } from "../../../core/runs/bodies.ts";
import type { Acceptance } from "../acceptance.ts";
import type { Lease } from "../tables/known-runs.ts";
import type { RunRow } from "../tables/runs-table.ts";

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
  /** The number of its last event; left out while it is being stored. */
  readonly lastEvent?: number;
  readonly lease: Lease;
  /** Present while the run is executed before it is known to be stored. */
  readonly acceptance?: Acceptance;
};

/** The claim of a stored run. */
export function claimOf(row: RunRow, owner: string): Claim {
  const { n, id, kind, principal, context_id: contextId, input, epoch, body, last_event: lastEvent } = row;
  return { id, kind, principal, contextId, input, body: body ?? firstBody, lastEvent, lease: { n, owner, epoch } };
}
