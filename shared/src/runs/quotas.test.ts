import { expect, spyOn, test } from "bun:test";
import { QuotaError } from "../core/runs/quota.ts";
import { createQuotas } from "./quotas.ts";

test("a principal's own limits stand in for everybody's one by one, and the operator has only its own", async () => {
  const everybody = { requestsPerMinute: 9, runsAtOnce: 2 };
  const quotas = createQuotas({ everybody, named: { alice: { runsAtOnce: 5 } } });
  expect(quotas.of("alice")).toEqual({ requestsPerMinute: 9, runsAtOnce: 5 });
  for (const name of ["bob", "__proto__", "constructor"]) expect(quotas.of(name)).toEqual(everybody);
  expect(quotas.of("local")).toEqual({});
  expect(createQuotas({ everybody, named: { local: { runsAtOnce: 1 } } }).of("local")).toEqual({ runsAtOnce: 1 });
});

test("a request too many is refused until the minute is over, and does not count itself", async () => {
  const quotas = createQuotas({ everybody: { requestsPerMinute: 1 } });
  expect(await quotas.admit({ principal: "alice" })).toEqual({ requestsPerMinute: 1 });
  for (const _ of [1, 2])
    await expect(quotas.admit({ principal: "alice" })).rejects.toThrow(
      /^You have reached your limit of 1 requests a minute/,
    );
  expect(await quotas.requests("alice")).toBe(1);
  expect(await quotas.admit({ principal: "alice", relayed: true })).toBeUndefined();
  expect(await quotas.admit({ principal: "bob" })).toBeDefined();
});

test("a minute after the first request all may ask again, and until then each hears how long it has to wait", async () => {
  let uptime = 0;
  using _ = spyOn(performance, "now").mockImplementation(() => uptime);
  const quotas = createQuotas({ everybody: { requestsPerMinute: 1 } });
  const waitOf = async (principal: string) => {
    try {
      await quotas.admit({ principal });
      return undefined;
    } catch (error) {
      return error instanceof QuotaError ? error.retryAfter : error;
    }
  };
  expect([await waitOf("alice"), await waitOf("alice"), await waitOf("local")]).toEqual([undefined, 60, undefined]);
  uptime = 58_500;
  expect([await waitOf("alice"), await waitOf("bob"), await waitOf("bob")]).toEqual([2, undefined, 2]);
  uptime = 59_999;
  expect(await waitOf("alice")).toBe(1);
  uptime = 60_000;
  expect([await quotas.requests("alice"), await quotas.requests("bob")]).toEqual([0, 0]);
  expect([await waitOf("alice"), await waitOf("alice")]).toEqual([undefined, 60]);
});
