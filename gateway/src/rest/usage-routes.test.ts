import { expect, test } from "bun:test";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Quotas } from "manyhands/internal/runs/quotas";
import { restForTest } from "../testing/rest.ts";
import { usageRoutes } from "./usage-routes.ts";

test("a caller is told its own use of each kind beside the limit of that kind, and no limit where there is none", async () => {
  const own = <Value>(principal: string, value: Value): Value => {
    expect(principal).toBe("ann");
    return value;
  };
  const engine = {
    usage: async (principal: string) => own(principal, { day: "2026-03-01", runs: 1, tokens: 2, usd: 0.3 }),
  } as unknown as Engine;
  let limits: object = { requestsPerMinute: 40, runsAtOnce: 10, tokensPerDay: 20, usdPerDay: 0 };
  const quotas = {
    of: (principal: string) => own(principal, limits),
    requests: async (principal: string) => own(principal, 4),
  } as unknown as Quotas;
  const { ask } = restForTest(usageRoutes({ engine, quotas }));
  const told = async () => (await ask("GET", "/usage")).json();
  expect(await told()).toEqual({
    principal: "ann",
    day: "2026-03-01",
    requests: { used: 4, limit: 40 },
    runs: { used: 1, limit: 10 },
    tokens: { used: 2, limit: 20 },
    usd: { used: 0.3, limit: 0 },
  });
  limits = {};
  const none = { requests: { used: 4 }, runs: { used: 1 }, tokens: { used: 2 }, usd: { used: 0.3 } };
  expect(await told()).toEqual({ principal: "ann", day: "2026-03-01", ...none });
});
