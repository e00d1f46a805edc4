import type { Engine, RunRecord } from "../core/engine.ts";
import { AppError } from "../core/errors.ts";

/**
 * The run with this id and principal, and of this kind if one is given. Otherwise rejects with
 * `not_found`: another principal's run looks like one that never existed.
 */
export async function ownRun(
  engine: Pick<Engine, "get">,
  id: string,
  { principal, kind }: { readonly principal: string; readonly kind?: string },
): Promise<RunRecord> {
  const run = await engine.get(id, principal);
  if (run === undefined || run.principal !== principal || (kind !== undefined && run.kind !== kind))
    throw new AppError("not_found", `There is no run ${id}.`);
  return run;
}
