import type { RunDefinition } from "../../../core/runs/run.ts";
import { offerOf } from "../../offer.ts";
import { type StoredOffer, storedOffer } from "../tables/claims-table.ts";

/** A pool: kinds whose bodies share one limit on concurrency. */
export type Pool = {
  readonly definitions: Map<string, RunDefinition>;
  offer: StoredOffer;
  concurrency: number;
  running: number;
  reserved: number;
  /** Whether runs may be claimable for which there was no room. */
  mayHaveMore: boolean;
  /** The principal whose run was claimed last: others come first. */
  served?: string | undefined;
};

/** A pool that serves no kind yet. */
export function emptyPool(): Pool {
  return {
    definitions: new Map(),
    offer: storedOffer(offerOf([])),
    concurrency: 0,
    running: 0,
    reserved: 0,
    mayHaveMore: true,
  };
}

/** How many more bodies a pool has room for. */
export function roomOf({ concurrency, running, reserved }: Pool): number {
  return concurrency - running - reserved;
}
