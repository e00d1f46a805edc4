import type { RunRecord, RunStatus } from "../../core/runs/engine.ts";

/** A row of `run_rows`, as JSON or as the driver returns it, with bigints as text. */
export type RunRow = {
  /** The run's key in the other tables. */
  readonly n: number | string;
  readonly id: string;
  readonly kind: string;
  readonly status: RunStatus;
  readonly principal: string;
  readonly context_id: string;
  readonly input: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly owner: string | null;
  readonly epoch: number | string;
  /** The version of the body it began with; null until it begins, or if it began before these. */
  readonly body: number | null;
  readonly cancel_requested: boolean;
  readonly waiting_signal: string | null;
  readonly waiting_reason: string | null;
  readonly last_event: number | string;
  readonly created_at: number | string;
  readonly updated_at: number | string;
};

/** The row as callers see it. */
export function recordOf(row: RunRow): RunRecord {
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
