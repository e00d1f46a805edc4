import type { A2aClient, CallOptions } from "manyhands/internal/a2a/client/client";
import { AppError, type ErrorCode } from "manyhands/internal/core/errors";

/** How long an agent that fails is left alone. */
export type BreakerPolicy = {
  /** Failures in a row after which it is left alone. */
  readonly failures: number;
  /** The first pause in milliseconds; doubled each time, up to `maxPauseMs`. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
};

/** `open`: nothing is sent. `trying`: one request is, to see whether the agent is back. */
export type BreakerState = "closed" | "open" | "trying";

/** Keeps requests from an agent that fails, so that neither waits for the other. */
export interface Breaker {
  state(): BreakerState;
  /** What the last failure was, while it is not closed. */
  reason(): string | undefined;
  /**
   * Throws `unavailable`, with the last failure and when it will be tried again, while the agent is
   * left alone.
   */
  check(): void;
  /**
   * Makes a call unless the agent is left alone; one that comes when its time is over is the only
   * one until it has ended. A failure counts only where the call began after the breaker last
   * opened or closed: of many calls that one outage ends, none makes the pause longer.
   */
  watch<Value>(call: () => Promise<Value>, signal?: AbortSignal): Promise<Value>;
  /** The agent is well, whoever found it so: closes at once. */
  succeeded(): void;
  /** The agent was found out of order without a call. Never makes a pause longer. */
  failed(reason: string): void;
  /** Aborted at the next moment at which a call that was refused is worth making again. */
  retrySignal(): AbortSignal;
}

/** What says that the agent's server is broken; any other refusal is an answer. */
export const sick: ReadonlySet<ErrorCode> = new Set(["unavailable", "timeout", "storage_unavailable"]);

/** A breaker that is closed. `now` is a clock that is never set, in milliseconds. */
export function createBreaker(name: string, policy: BreakerPolicy, now = () => performance.now()): Breaker {
  let failures = 0;
  /** Times it was opened since it was last closed. */
  let openings = 0;
  /** Counts its openings and closings: a call tells of the time it began in. */
  let era = 0;
  let retryAt = 0;
  let trying = false;
  let reason = "";
  let waiting = new AbortController();
  const isOpen = () => openings > 0;
  const wake = () => {
    const woken = waiting;
    waiting = new AbortController();
    woken.abort();
  };
  const open = () => {
    const pauseMs = Math.min(policy.pauseMs * 2 ** openings++, policy.maxPauseMs);
    retryAt = now() + pauseMs;
    trying = false;
    const opened = ++era;
    setTimeout(() => opened === era && wake(), pauseMs).unref();
  };
  const check = () => {
    const waitMs = retryAt - now();
    if (!isOpen() || (waitMs <= 0 && !trying)) return;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const story = `${name} has failed ${failures} times in a row (${reason.replace(/\.$/, "")})`;
    throw new AppError("unavailable", `${story}; it is tried again in ${seconds} s.`);
  };
  const succeeded = () => {
    failures = 0;
    if (!isOpen()) return;
    openings = 0;
    trying = false;
    era++;
    wake();
  };
  const counted = (why: string) => {
    failures++;
    reason = why;
    if (isOpen() || failures >= policy.failures) open();
  };
  return {
    state: () => (!isOpen() ? "closed" : trying || now() >= retryAt ? "trying" : "open"),
    reason: () => (isOpen() ? reason : undefined),
    retrySignal: () => waiting.signal,
    check,
    succeeded,
    failed(why) {
      if (isOpen()) reason = why;
      else counted(why);
    },
    async watch(call, signal) {
      check();
      const begunIn = era;
      const isTry = isOpen();
      if (isTry) trying = true;
      try {
        const value = await call();
        succeeded();
        return value;
      } catch (error) {
        // What the caller gives up tells nothing of the agent.
        const isGivenUp = signal?.aborted === true || !(error instanceof AppError);
        if (!isGivenUp && !sick.has(error.code)) succeeded();
        else if (begunIn === era && !isGivenUp) counted(error.message);
        else if (begunIn === era && isTry) {
          trying = false;
          wake();
        }
        throw error;
      }
    },
  };
}

/**
 * A client that a breaker watches: its short calls, each with the repetitions it makes itself,
 * count as one success or failure. Cancellations count for nothing, and so does what is read as a
 * stream, which may end for many reasons; neither begins while the agent is left alone.
 */
export function watchedClient(client: A2aClient, breaker: Breaker): A2aClient {
  const watch = <Value>(call: () => Promise<Value>, options: CallOptions = {}) => breaker.watch(call, options.signal);
  return {
    ...client,
    submit: (message, options) => watch(() => client.submit(message, options), options),
    notify: (taskId, receiver, options) => watch(() => client.notify(taskId, receiver, options), options),
    get: (taskId, options) => watch(() => client.get(taskId, options), options),
    // An agent may fail to cancel and be well, or know of no message and be ill: neither says
    // whether it takes messages.
    async cancel(taskId, options) {
      breaker.check();
      return client.cancel(taskId, options);
    },
    async cancelMessage(id, options) {
      breaker.check();
      return client.cancelMessage(id, options);
    },
    async *stream(message, options) {
      breaker.check();
      yield* client.stream(message, options);
    },
    async *watch(taskId, options) {
      breaker.check();
      yield* client.watch(taskId, options);
    },
    async send(message, options) {
      breaker.check();
      return client.send(message, options);
    },
    async answer(taskId, text, options) {
      breaker.check();
      return client.answer(taskId, text, options);
    },
  };
}
