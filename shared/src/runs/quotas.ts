import { type Caller, localCaller } from "../core/caller.ts";
import { type Quota, type QuotaConfig, QuotaError } from "../core/runs/quota.ts";

/** Holds principals to their limits. */
export interface Quotas {
  /**
   * Counts a request that makes work, and returns what its run is held to: nothing if one of our
   * servers asks for the principal, since that belongs to a run of it that is counted already.
   * Rejects with QuotaError for a request too many.
   */
  admit(caller: Pick<Caller, "principal" | "relayed">): Promise<Quota | undefined>;
  of(principal: string): Quota;
  /** The requests of this minute. */
  requests(principal: string): Promise<number>;
}

/** Counts requests, minute by minute. */
export interface RequestCounter {
  /**
   * Counts a request unless the minute has this many. Resolves with whether it was counted, and
   * with the milliseconds until the next minute begins.
   */
  count(principal: string, most: number): Promise<{ readonly isCounted: boolean; readonly leftMs: number }>;
  /** The requests that were counted in this minute. */
  of(principal: string): Promise<number>;
}

const minuteMs = 60_000;

/** Holds principals to these limits. Without a counter, the requests of this process count. */
export function createQuotas(
  { everybody = {}, named = {} }: QuotaConfig = {},
  counter: RequestCounter = countInProcess(),
): Quotas {
  const own = new Map(Object.entries(named));
  const of = (principal: string): Quota => ({
    ...(principal !== localCaller.principal && everybody),
    ...own.get(principal),
  });
  return {
    of,
    requests: (principal) => counter.of(principal),
    async admit({ principal, relayed }) {
      if (relayed === true) return undefined;
      const quota = of(principal);
      const { requestsPerMinute = Number.POSITIVE_INFINITY } = quota;
      const { isCounted, leftMs } = await counter.count(principal, requestsPerMinute);
      if (isCounted) return quota;
      throw new QuotaError(`${requestsPerMinute} requests a minute`, Math.max(1, Math.ceil(leftMs / 1000)));
    },
  };
}

/** Counts the requests of this process. */
export function countInProcess(): RequestCounter {
  let began = performance.now();
  let counts = new Map<string, number>();
  const now = (principal: string): number => {
    if (performance.now() - began >= minuteMs) {
      began = performance.now();
      counts = new Map();
    }
    return counts.get(principal) ?? 0;
  };
  return {
    async count(principal, most) {
      const count = now(principal);
      const isCounted = count < most;
      if (isCounted) counts.set(principal, count + 1);
      return { isCounted, leftMs: began + minuteMs - performance.now() };
    },
    of: async (principal) => now(principal),
  };
}
