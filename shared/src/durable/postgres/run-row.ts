import type { RunColumns } from "../run-row.ts";

/** A row of `run_rows`, as JSON or as the driver returns it, with bigints as text. */
export type RunRow = RunColumns<number | string> & { readonly cancel_requested: boolean };
