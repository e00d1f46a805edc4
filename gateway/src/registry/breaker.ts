import type { A2aClient, CallOptions } from "manyhands/internal/a2a/client/client";
import { AppError, type ErrorCode } from "manyhands/internal/core/errors";

/** When the breaker opens, and for how long. */
export type BreakerPolicy = {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** The first pause in milliseconds; doubled each time, up to `maxPauseMs`. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
};

/** `open`: nothing is sent. `trying`: one request is sent to test whether the agent is back. */
export type BreakerState = "closed" | "open" | "trying";

/** A circuit breaker: stops requests to a failing agent, so that callers don't wait for it. */
export interface Breaker {
  state(): BreakerState;
  /** The last failure, while the breaker is not closed. */
  reason(): string | undefined;
  /**
   * While the breaker is open, throws `unavailable` with the last failure and the time of the next
   * try.
   */
  check(): void;
  /**
   * Makes a call unless the breaker is open. After the pause, a single call tests the agent; others
   * are refused until it ends. A failure counts only if the call started after the breaker last
   * opened or closed: many calls that fail in one outage don't lengthen the pause.
   */
  watch<Value>(call: () => Promise<Value>, signal?: AbortSignal): Promise<Value>;
  /** Reports that the agent works: closes the breaker at once. */
  succeeded(): void;
  /** Reports a failure found without a call. Never lengthens a pause. */
  failed(reason: string): void;
  /** Aborts as soon as a refused call is worth repeating. */
  retrySignal(): AbortSignal;
}

/** Errors that mean the agent's server is broken; any other refusal is an answer. */
export const sick: ReadonlySet<ErrorCode> = new Set(["unavailable", "timeout", "storage_unavailable"]);

/** A closed breaker. `now` is a monotonic clock in milliseconds. */
export function createBreaker(name: string, policy: BreakerPolicy, now = () => performance.now()): Breaker {
  let failures = 0;
  /** How often it has opened since it last closed. */
  let openings = 0;
  /** Counts openings and closings: a call's result belongs to the era in which it started. */
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
    era++;
    wake();
  };
  const counted = (why: string) => {
    failures++;
    reason = why;
    if (failures >= policy.failures) open();
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
      const startedIn = era;
      const isTry = isOpen();
      if (isTry) trying = true;
      try {
        const value = await call();
        succeeded();
        return value;
      } catch (error) {
        // A call that the caller aborts says nothing about the agent.
        const isGivenUp = signal?.aborted === true || !(error instanceof AppError);
        if (!isGivenUp && !sick.has(error.code)) succeeded();
        else if (startedIn === era && !isGivenUp) counted(error.message);
        else if (startedIn === era && isTry) {
          trying = false;
          wake();
        }
        throw error;
      }
    },
  };
}

/**
 * A client watched by a breaker: each short call, with its own retries, counts as one success or
 * failure. Cancellations and streams, which may end for many reasons, don't count; while the
 * breaker is open they don't start either.
 */
export function watchedClient(client: A2aClient, breaker: Breaker): A2aClient {
  const watch = <Value>(call: () => Promise<Value>, options: CallOptions = {}) => breaker.watch(call, options.signal);
  return {
    ...client,
    actingFor: (principal) => watchedClient(client.actingFor(principal), breaker),
    submit: (message, options) => watch(() => client.submit(message, options), options),
    notify: (taskId, receiver, options) => watch(() => client.notify(taskId, receiver, options), options),
    get: (taskId, options) => watch(() => client.get(taskId, options), options),
    // A working agent may fail to cancel, and a broken one may answer: neither shows whether it
    // takes messages.
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
