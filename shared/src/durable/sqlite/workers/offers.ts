import { versionMissing } from "../../../core/runs/bodies.ts";
import type { RunDefinition, RunEvent } from "../../../core/runs/run.ts";
import type { Moment } from "../run-clock.ts";
import type { StoredOffer } from "../tables/claims-table.ts";
import type { RunRow } from "../tables/runs-table.ts";
import type { Tables } from "../tables/tables.ts";
import { endRun } from "./endings.ts";

/** A run that got events, and the last one's number. */
export type Told = { readonly id: string; readonly seq: number };

/**
 * Tells other workers what this one executes, and queues the runs that paused because none did. In
 * one transaction: a worker that pauses a run either sees this offer or is seen here.
 */
export function announce(tables: Tables, owner: string, offer: StoredOffer, now: Moment): Told[] {
  tables.workers.offer(owner, offer.keys);
  return tables.claims.continuable(offer).map(({ n, id }) => {
    tables.states.queue(n, now);
    return { id, seq: tables.events.append(n, [{ type: "run-resumed" }], now) };
  });
}

/**
 * Claims runs; those canceled while no worker executed them end here, and those whose body no
 * worker has pause.
 */
export function claim(
  tables: Tables,
  offer: StoredOffer,
  { owner, limit, definitions, served }: ClaimRequest,
  now: Moment,
): { readonly rows: readonly RunRow[]; readonly told: readonly Told[] } {
  const claimed = tables.claims.claim(offer, owner, limit, now, served);
  const ended = claimed
    .filter((run) => run.cancel_requested === 1)
    .map((run) => ({ id: run.id, seq: endRun(tables, run.n, { status: "canceled" }, now) }));
  const rows = claimed.filter((run) => run.cancel_requested === 0);
  return { rows, told: claimed.length < limit ? [...ended, ...pauseStranded(tables, offer, definitions, now)] : ended };
}

/**
 * Who claims, how many runs at most, what it executes, and the principal whose run it claimed last.
 */
export type ClaimRequest = {
  readonly owner: string;
  readonly limit: number;
  readonly definitions: ReadonlyMap<string, RunDefinition>;
  readonly served?: string | undefined;
};

function pauseStranded(
  tables: Tables,
  offer: StoredOffer,
  definitions: ReadonlyMap<string, RunDefinition>,
  now: Moment,
): Told[] {
  return tables.claims.stranded(offer, now).flatMap(({ n, id, kind, cancel_requested, body }) => {
    if (cancel_requested === 1) return [{ id, seq: endRun(tables, n, { status: "canceled" }, now) }];
    const definition = definitions.get(kind);
    if (definition === undefined) return [];
    const { code, message } = versionMissing(definition, body);
    const error = { code, message };
    const paused: RunEvent = { type: "run-paused", error };
    const seq = tables.events.append(n, [paused], now);
    tables.states.pause(n, error, now);
    return [{ id, seq }];
  });
}
