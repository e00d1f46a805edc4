import type { RunRecord, RunStatus } from "../core/runs/engine.ts";

/** What a run's row has in every database; `Count` is what the driver makes of a 64-bit number. */
export type RunColumns<Count> = {
  /** The run's key in the other tables. */
  readonly n: Count;
  readonly id: string;
  readonly kind: string;
  readonly status: RunStatus;
  readonly principal: string;
  readonly context_id: string;
  readonly input: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly owner: string | null;
  readonly epoch: Count;
  /** The version of the body it began with; null until it begins, or if it began before these. */
  readonly body: number | null;
  readonly waiting_signal: string | null;
  readonly waiting_reason: string | null;
  readonly last_event: Count;
  readonly created_at: Count;
  readonly updated_at: Count;
};

/** The row as callers see it. */
export function recordOf(row: RunColumns<number | string>): RunRecord {
  const { output, error, waiting_signal: signal, waiting_reason: reason } = row;
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    principal: row.principal,
    contextId: row.context_id,
    input: JSON.parse(row.input),
    ...(output === null ? {} : { output: JSON.parse(output) }),
    ...(error === null ? {} : { error: JSON.parse(error) }),
    ...(signal === null ? {} : { waiting: { signal, ...(reason === null ? {} : { reason }) } }),
    lastEvent: Number(row.last_event),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}
