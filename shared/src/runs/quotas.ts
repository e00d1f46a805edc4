import { type Caller, localCaller } from "../core/caller.ts";
import { type Quota, type QuotaConfig, QuotaError } from "../core/quota.ts";

/** Holds principals to their limits. */
export interface Quotas {
  /**
   * Counts a request that makes work, and returns what its run is held to: nothing if one of our
   * servers asks for the principal, since that belongs to a run of it that is counted already.
   * Throws QuotaError for a request too many.
   */
  admit(caller: Pick<Caller, "principal" | "relayed">): Quota | undefined;
  of(principal: string): Quota;
  /** The requests of this minute. */
  requests(principal: string): number;
}

const minuteMs = 60_000;

/** Counts the requests of this process, minute by minute. */
export function createQuotas({ everybody = {}, named = {} }: QuotaConfig = {}): Quotas {
  const own = new Map(Object.entries(named));
  let began = performance.now();
  let counts = new Map<string, number>();
  const of = (principal: string): Quota => ({
    ...(principal !== localCaller.principal && everybody),
    ...own.get(principal),
  });
  const requests = (principal: string): number => {
    if (performance.now() - began >= minuteMs) {
      began = performance.now();
      counts = new Map();
    }
    return counts.get(principal) ?? 0;
  };
  return {
    of,
    requests,
    admit({ principal, relayed }) {
      if (relayed === true) return undefined;
      const quota = of(principal);
      const count = requests(principal);
      const { requestsPerMinute = Number.POSITIVE_INFINITY } = quota;
      if (count >= requestsPerMinute) {
        const seconds = Math.max(1, Math.ceil((began + minuteMs - performance.now()) / 1000));
        throw new QuotaError(`${requestsPerMinute} requests a minute`, seconds);
      }
      counts.set(principal, count + 1);
      return quota;
    },
  };
}
