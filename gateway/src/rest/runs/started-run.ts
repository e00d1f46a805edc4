import type { Context } from "hono";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import type { RestEnv } from "../endpoint.ts";
import { waitSignal } from "../prefer.ts";
import { idempotencyKey, runSchema } from "./run-schemas.ts";

/** The headers of a request that starts a run. */
export const startHeaders = z.object({
  "idempotency-key": idempotencyKey,
  prefer: z.string().max(255).optional(),
});

const startedSchema = runSchema.extend({ runId: z.string().describe("The same as `id`.") });

/** The answers to a request that starts a run. */
export const startedAnswers = {
  200: { description: "The run, when it was waited for and has ended or asks something.", body: startedSchema },
  202: { description: "The run continues; `Location` is its URL.", body: startedSchema },
} as const;

/** Answers with a run that was started: at once, or within `waitMs` when it has settled. */
export async function answerStarted(
  c: Context<RestEnv>,
  runs: Pick<Runs, "settled" | "view">,
  started: RunRecord,
  waitMs: number | undefined,
): Promise<Response> {
  const run = waitMs === undefined ? started : await runs.settled(started, waitSignal(waitMs, c.req.raw.signal));
  const view = await runs.view(run);
  c.header("Location", `/runs/${run.id}`);
  if (waitMs !== undefined) c.header("Preference-Applied", `wait=${waitMs / 1000}`);
  const goesOn = waitMs === undefined || ["queued", "running", "waiting"].includes(view.status);
  return c.json({ runId: run.id, ...view } as object, goesOn ? 202 : 200);
}
