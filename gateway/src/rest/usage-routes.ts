import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Quotas } from "manyhands/internal/runs/quotas";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "./endpoint.ts";

const counted = z.object({ used: z.number(), limit: z.number().exactOptional() });

const usageSchema = z
  .object({
    principal: z.string(),
    day: z.iso.date().describe("The day, in UTC, of `tokens` and `usd`."),
    requests: counted.describe("Messages and starts in this minute, at this server."),
    runs: counted.describe("Runs that have not ended."),
    tokens: counted.describe("Input and output tokens of this day."),
    usd: counted.describe("US dollars of this day, where the price is known."),
  })
  .meta({ id: "Usage", description: "What you use. `limit` is left out where none is set." });

/** `/usage` */
export function usageRoutes({ engine, quotas }: { readonly engine: Engine; readonly quotas: Quotas }): RestEndpoint[] {
  const about = {
    method: "get",
    path: "/usage",
    tag: "usage",
    summary: "What you use, and your limits",
    request: {},
    answers: { 200: { description: "What you use now.", body: usageSchema } },
    problems: [],
  } as const;
  const usage = endpoint(about, async (_, c) => {
    const { principal } = c.get("caller");
    const { day, runs, tokens, usd } = await engine.usage(principal);
    const { requestsPerMinute, runsAtOnce, tokensPerDay, usdPerDay } = quotas.of(principal);
    return c.json({
      principal,
      day,
      requests: { used: await quotas.requests(principal), limit: requestsPerMinute },
      runs: { used: runs, limit: runsAtOnce },
      tokens: { used: tokens, limit: tokensPerDay },
      usd: { used: usd, limit: usdPerDay },
    });
  });
  return [usage];
}
