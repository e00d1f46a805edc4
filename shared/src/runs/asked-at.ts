import { AppError } from "../core/errors.ts";
import { type AskedRequest, type RecordedRequest, wholeRequest } from "../core/runs/asked-request.ts";
import type { Engine } from "../core/runs/engine.ts";

/**
 * What the model was asked in the call that an event of a run reports. Rejects with `not_found` if
 * the event reports none, or if its request is not kept: runs of earlier versions recorded none,
 * and it goes with the run's journal.
 */
export async function askedAt(
  engine: Pick<Engine, "events" | "recorded">,
  runId: string,
  seq: number,
): Promise<AskedRequest> {
  const [found] = await engine.events(runId, seq - 1, seq);
  if (found === undefined) throw new AppError("not_found", `The run ${runId} has no event ${seq}.`);
  const { request } = found.event as { readonly request?: unknown };
  if (typeof request !== "string") throw new AppError("not_found", `Event ${seq} has no request to a model.`);
  const recorded = (await engine.recorded(runId, "asked")) as unknown as readonly (
    | RecordedRequest
    | readonly RecordedRequest[]
  )[];
  const whole = wholeRequest(recorded.flat() as RecordedRequest[], request);
  if (whole === undefined)
    throw new AppError("not_found", `The request of event ${seq} is not kept any more: [retention] deletes journals.`);
  return whole;
}
