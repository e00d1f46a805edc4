import { logBug } from "../core/async/log-bug.ts";
import { AppError } from "../core/errors.ts";
import type { Log } from "../core/runs/engine.ts";
import type { Database } from "../durable/postgres/database.ts";
import { type Clock, systemClock } from "../models/clock.ts";
import type { EndpointLimits, Limiter } from "../models/limiter.ts";

/** What limits that several processes share need. */
export type SharedLimiterOptions = {
  readonly database: Database;
  readonly log: Log;
  readonly clock?: Clock;
  /** How long a call counts as in flight after its process was last heard of. Default 15 s. */
  readonly leaseMs?: number;
};

const firstPauseMs = 50;
const longestPauseMs = 1_000;

/**
 * A limiter whose limits hold for all processes with this database together; its own come first,
 * and they alone hold while the database does not answer. Calls of one process start as its own
 * limiter lets them, those of several in any order.
 */
export function sharedLimiter(
  { endpoint, concurrency, tokensPerMinute }: EndpointLimits,
  own: Limiter,
  { database, log, clock = systemClock, leaseMs = 15_000 }: SharedLimiterOptions,
): Limiter {
  if (concurrency === undefined && tokensPerMinute === undefined) return own;
  const inFlight = new Set<string>();
  let renewing: ReturnType<typeof setInterval> | undefined;

  /** Milliseconds until the call may begin; null if one in flight has to end first. */
  async function begin(id: string, tokens: number): Promise<number | null> {
    try {
      const call = JSON.stringify({ id, endpoint, tokens, concurrency, tokensPerMinute, leaseMs });
      const [row] = await database.query<{ answer: string }>("SELECT begin_model_call($1::text) AS answer", [call]);
      return JSON.parse(row?.answer ?? "null").left;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.warn({ err: error }, "The limits of a model are not shared now; those of this process hold.");
      return 0;
    }
  }

  async function enter(id: string, tokens: number, signal: AbortSignal): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const left = await begin(id, tokens);
      if (left === 0) return;
      await clock.sleep(left === null ? pauseMs * (0.5 + Math.random()) : Math.min(left + 1, longestPauseMs), signal);
    }
  }

  const untold = logBug(log, "The limits of a model could not be told to other processes.");
  const renew = () => {
    const ids = database.sql.array([...inFlight], "TEXT");
    const values = [ids, leaseMs];
    database
      .query("UPDATE model_calls SET lease_until = now_ms() + $2::bigint WHERE id = ANY ($1)", values)
      .catch(untold);
  };

  const leave = (id: string, spent: number) => {
    inFlight.delete(id);
    if (inFlight.size === 0) {
      clearInterval(renewing);
      renewing = undefined;
    }
    // If it does not arrive, the lease ends.
    database
      .query("UPDATE model_calls SET tokens = $2::bigint, lease_until = NULL WHERE id = $1", [id, Math.round(spent)])
      .catch(untold);
  };

  return {
    async enter(tokens, signal, principal) {
      const place = await own.enter(tokens, signal, principal);
      const id = crypto.randomUUID();
      try {
        await enter(id, Math.ceil(tokens), signal);
      } catch (error) {
        place.end(0);
        throw error;
      }
      inFlight.add(id);
      renewing ??= setInterval(renew, leaseMs / 3);
      renewing.unref?.();
      return {
        end(spent) {
          place.end(spent);
          leave(id, spent);
        },
      };
    },
  };
}
