import { expect, test } from "bun:test";
import { checkQuota, isLimited, type Quota, QuotaError, type QuotaUse } from "./quota.ts";

const noon = Date.parse("2026-03-01T12:00:00.000Z");
const use: QuotaUse = { day: "2026-03-01", runs: 2, tokens: 100, usd: 1.5 };

/** What the caller is told and for how long it has to wait; undefined if it may go on. */
function refusal(quota: Quota, starts: boolean, now = noon): readonly [string, number] | undefined {
  try {
    checkQuota(quota, use, now, starts);
  } catch (error) {
    if (error instanceof QuotaError) return [error.message, error.retryAfter];
    throw error;
  }
  return undefined;
}

const untilTomorrow = 12 * 3600;

test.each([
  // What is used, one below and one above it: a limit that is reached leaves nothing.
  [{ runsAtOnce: 1 }, true, "1 run at once", 5],
  [{ runsAtOnce: 2 }, true, "2 runs at once", 5],
  [{ runsAtOnce: 3 }, true, undefined, 0],
  // A further message starts no run.
  [{ runsAtOnce: 1 }, false, undefined, 0],
  [{ tokensPerDay: 99 }, false, "99 tokens a day", untilTomorrow],
  [{ tokensPerDay: 100 }, true, "100 tokens a day", untilTomorrow],
  [{ tokensPerDay: 101 }, true, undefined, 0],
  [{ usdPerDay: 1.4 }, false, "1.4 US dollars a day", untilTomorrow],
  [{ usdPerDay: 1.5 }, true, "1.5 US dollars a day", untilTomorrow],
  [{ usdPerDay: 1.6 }, true, undefined, 0],
  [{ usdPerDay: 0 }, true, "0 US dollars a day", untilTomorrow],
  // Of several, the caller hears of the one that keeps it waiting longest.
  [{ runsAtOnce: 0, tokensPerDay: 0 }, true, "0 tokens a day", untilTomorrow],
  [{ requestsPerMinute: 0 }, true, undefined, 0],
  [{}, true, undefined, 0],
] as const)("a quota of %j, where a run starts: %p, refuses for: %p", (quota, starts, limit, seconds) => {
  expect(refusal(quota, starts)).toEqual(
    limit === undefined ? undefined : [`You have reached your limit of ${limit}. Try again in ${seconds} s.`, seconds],
  );
});

test("the wait for another day ends with its first moment, and never before", () => {
  const waits = (at: string) => refusal({ tokensPerDay: 1 }, true, Date.parse(at))?.[1];
  expect(waits("2026-03-01T00:00:00.000Z")).toBe(86_400);
  expect(waits("2026-03-01T23:59:58.999Z")).toBe(2);
  expect(waits("2026-03-01T23:59:59.001Z")).toBe(1);
});

test("a start is held against each limit but that of requests, which are counted before", () => {
  const one = ["runsAtOnce", "tokensPerDay", "usdPerDay", "requestsPerMinute"].filter((name) =>
    isLimited({ [name]: 0 }),
  );
  expect([one, isLimited({})]).toEqual([["runsAtOnce", "tokensPerDay", "usdPerDay"], false]);
});
