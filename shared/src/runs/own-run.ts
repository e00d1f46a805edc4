import { AppError } from "../core/errors.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";

/** Whose run it has to be, of which kind, and what its caller calls it. */
type OwnRun = { readonly principal: string; readonly kind?: string; readonly called?: "run" | "task" };

/**
 * The run with this id and principal, and of this kind if one is given. Otherwise rejects with
 * `not_found`: another principal's run looks like one that never existed.
 */
export async function ownRun(
  engine: Pick<Engine, "get">,
  id: string,
  { principal, kind, called = "run" }: OwnRun,
): Promise<RunRecord> {
  const run = await engine.get(id, principal);
  if (run === undefined || run.principal !== principal || (kind !== undefined && run.kind !== kind))
    throw new AppError("not_found", `There is no ${called} ${id}.`);
  return run;
}
