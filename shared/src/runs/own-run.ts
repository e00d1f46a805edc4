import type { Engine, RunRecord } from "../core/engine.ts";
import { AppError } from "../core/errors.ts";

/**
 * The run of this id and principal, of this kind where one is given. Rejects with `not_found`:
 * another's run is as unknown as one that never was.
 */
export async function ownRun(
  engine: Pick<Engine, "get">,
  id: string,
  { principal, kind }: { readonly principal: string; readonly kind?: string },
): Promise<RunRecord> {
  const run = await engine.get(id);
  if (run === undefined || run.principal !== principal || (kind !== undefined && run.kind !== kind))
    throw new AppError("not_found", `There is no run ${id}.`);
  return run;
}
