import { AppError } from "../errors.ts";
import { counted } from "../text/counted.ts";

/** What a principal may use; an omitted limit does not apply. Days are those of UTC. */
export type Quota = {
  readonly requestsPerMinute?: number | undefined;
  /** Runs that have not ended. */
  readonly runsAtOnce?: number | undefined;
  readonly tokensPerDay?: number | undefined;
  readonly usdPerDay?: number | undefined;
};

/** The limits of principals. */
export type QuotaConfig = {
  /** Those of every principal but "local". */
  readonly everybody?: Quota;
  /** Those of some, each key in place of everybody's. */
  readonly named?: Readonly<Record<string, Quota>>;
};

/** What a principal uses: runs that have not ended, and what it has used of models on this day. */
export type QuotaUse = {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly runs: number;
  readonly tokens: number;
  readonly usd: number;
};

/** A principal has reached one of its limits. */
export class QuotaError extends AppError {
  /** After how many seconds the same request may succeed. */
  readonly retryAfter: number;

  constructor(limit: string, retryAfter: number) {
    super("quota_exceeded", `You have reached your limit of ${limit}. Try again in ${retryAfter} s.`);
    this.retryAfter = retryAfter;
  }
}

/** Whether what a principal uses decides whether its runs may start. */
export function isLimited({ runsAtOnce, tokensPerDay, usdPerDay }: Quota): boolean {
  return runsAtOnce !== undefined || tokensPerDay !== undefined || usdPerDay !== undefined;
}

/** Seconds after which to try again where nobody knows when a run will end. */
const runEndsSeconds = 5;

/**
 * Throws QuotaError if nothing more may be used at this time, in milliseconds since 1970. Another
 * run counts only if one is to start.
 */
export function checkQuota(quota: Quota, use: QuotaUse, now: number, starts: boolean): void {
  const { runsAtOnce, tokensPerDay, usdPerDay } = quota;
  const tomorrow = Math.ceil((Date.parse(use.day) + 86_400_000 - now) / 1000);
  if (usdPerDay !== undefined && use.usd >= usdPerDay) throw new QuotaError(`${usdPerDay} US dollars a day`, tomorrow);
  if (tokensPerDay !== undefined && use.tokens >= tokensPerDay)
    throw new QuotaError(`${tokensPerDay} tokens a day`, tomorrow);
  if (starts && runsAtOnce !== undefined && use.runs >= runsAtOnce)
    throw new QuotaError(`${counted(runsAtOnce, "run")} at once`, runEndsSeconds);
}
