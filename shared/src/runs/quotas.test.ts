import { expect, spyOn, test } from "bun:test";
import { QuotaError } from "../core/quota.ts";
import { createQuotas } from "./quotas.ts";

test("a principal's own limits stand in for everybody's one by one, and the operator has only its own", () => {
  const everybody = { requestsPerMinute: 9, runsAtOnce: 2 };
  const quotas = createQuotas({ everybody, named: { alice: { runsAtOnce: 5 } } });
  expect(quotas.of("alice")).toEqual({ requestsPerMinute: 9, runsAtOnce: 5 });
  for (const name of ["bob", "__proto__", "constructor"]) expect(quotas.of(name)).toEqual(everybody);
  expect(quotas.of("local")).toEqual({});
  expect(createQuotas({ everybody, named: { local: { runsAtOnce: 1 } } }).of("local")).toEqual({ runsAtOnce: 1 });
});

test("a request too many is refused until the minute is over, and does not count itself", () => {
  const quotas = createQuotas({ everybody: { requestsPerMinute: 1 } });
  expect(quotas.admit({ principal: "alice" })).toEqual({ requestsPerMinute: 1 });
  for (const _ of [1, 2])
    expect(() => quotas.admit({ principal: "alice" })).toThrow(/^You have reached your limit of 1 requests a minute/);
  expect(quotas.requests("alice")).toBe(1);
  expect(quotas.admit({ principal: "alice", relayed: true })).toBeUndefined();
  expect(quotas.admit({ principal: "bob" })).toBeDefined();
});

test("a minute after the first request all may ask again, and until then each hears how long it has to wait", () => {
  let uptime = 0;
  using _ = spyOn(performance, "now").mockImplementation(() => uptime);
  const quotas = createQuotas({ everybody: { requestsPerMinute: 1 } });
  const waitOf = (principal: string) => {
    try {
      quotas.admit({ principal });
      return undefined;
    } catch (error) {
      return error instanceof QuotaError ? error.retryAfter : error;
    }
  };
  expect([waitOf("alice"), waitOf("alice"), waitOf("local")]).toEqual([undefined, 60, undefined]);
  uptime = 58_500;
  expect([waitOf("alice"), waitOf("bob"), waitOf("bob")]).toEqual([2, undefined, 2]);
  uptime = 59_999;
  expect(waitOf("alice")).toBe(1);
  uptime = 60_000;
  expect([quotas.requests("alice"), quotas.requests("bob")]).toEqual([0, 0]);
  expect([waitOf("alice"), waitOf("alice")]).toEqual([undefined, 60]);
});
