import { expect, test } from "bun:test";
import { ModelFailure } from "./model-failure.ts";
import { retryWait } from "./retry.ts";

const busy = (retryAfterMs?: number) =>
  new ModelFailure("rate-limited", "busy", retryAfterMs === undefined ? {} : { retryAfterMs });
const limits = { maxRetries: 10, random: () => 1 };

test("waits grow to a cap, with full jitter", () => {
  const waits = [1, 2, 3, 7, 9].map((attempts) => retryWait(busy(), { attempts, waitedMs: 0 }, limits));
  expect(waits).toEqual([500, 1000, 2000, 30_000, 30_000]);
  expect(retryWait(busy(), { attempts: 9, waitedMs: 0 }, { ...limits, random: () => 0 })).toBe(0);
});

test("the provider's wait is the minimum, and a wait of zero is a value", () => {
  const made = { attempts: 1, waitedMs: 0 };
  expect(retryWait(busy(2000), made, { ...limits, random: () => 0 })).toBe(2000);
  expect(retryWait(busy(0), made, { ...limits, random: () => 0 })).toBe(0);
  expect(retryWait(busy(60_000), made, { ...limits, random: () => 0 })).toBe(60_000);
  expect(retryWait(busy(60_001), made, limits)).toBeUndefined();
});

test("attempts and total wait are limited, and permanent failures are not waited for", () => {
  expect(retryWait(busy(), { attempts: 10, waitedMs: 120_000 }, limits)).toBe(30_000);
  expect(retryWait(busy(), { attempts: 10, waitedMs: 120_001 }, limits)).toBeUndefined();
  expect(retryWait(busy(), { attempts: 11, waitedMs: 0 }, limits)).toBeUndefined();
  expect(retryWait(busy(60_000), { attempts: 1, waitedMs: 100_000 }, limits)).toBeUndefined();
  for (const kind of ["rejected", "overflow", "quota"] as const) {
    expect(retryWait(new ModelFailure(kind, "no"), { attempts: 1, waitedMs: 0 }, limits)).toBeUndefined();
  }
});
