import { expect, test } from "bun:test";
import type { A2aClient } from "manyhands/internal/a2a/client/client";
import { AppError, type ErrorCode, errorCodes } from "manyhands/internal/core/errors";
import { createBreaker, watchedClient } from "./breaker.ts";

const broken = () => Promise.reject(new AppError("unavailable", "HTTP status 502."));

/** A breaker that opens after two failures, for a second at first, and its clock. */
function breakerAt() {
  const clock = { now: 0 };
  const policy = { failures: 2, pauseMs: 1_000, maxPauseMs: 3_000 };
  return { clock, breaker: createBreaker("maps", policy, () => clock.now) };
}

test("after consecutive failures nothing is sent, and the refusal names the last one", async () => {
  const { breaker } = breakerAt();
  let calls = 0;
  const call = () => {
    calls++;
    return broken();
  };
  for (let n = 0; n < 3; n++) await breaker.watch(call).catch(() => undefined);
  expect([calls, breaker.state(), breaker.reason()]).toEqual([2, "open", "HTTP status 502."]);
  expect(() => breaker.check()).toThrow(
    "maps has failed 2 times in a row (HTTP status 502); it is tried again in 1 s.",
  );
});

test("when the pause is over, one call tries for all, and decides", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  clock.now = 1_000;
  breaker.check();
  const slow = Promise.withResolvers<string>();
  const trying = breaker.watch(() => slow.promise);
  expect(breaker.state()).toBe("trying");
  clock.now = 5_000;
  const refused = { code: "unavailable", message: expect.stringContaining("it is tried again in 1 s.") };
  await expect(breaker.watch(async () => "me too")).rejects.toMatchObject(refused);
  slow.resolve("back");
  expect([await trying, breaker.state()]).toEqual(["back", "closed"]);
});

test("the last failure is told while nothing is sent for it, and not before or after", async () => {
  const { breaker } = breakerAt();
  const told: unknown[] = [];
  for (let n = 0; n < 2; n++) {
    await breaker.watch(broken).catch(() => undefined);
    told.push(breaker.reason());
  }
  breaker.succeeded();
  expect([...told, breaker.reason()]).toEqual([undefined, "HTTP status 502.", undefined]);
});

test("each failed try lengthens the pause, up to a limit", async () => {
  const { breaker, clock } = breakerAt();
  const pauses: number[] = [];
  for (let n = 0; n < 5; n++) {
    await breaker.watch(broken).catch(() => undefined);
    const before = clock.now;
    while (breaker.state() === "open") clock.now += 500;
    pauses.push(clock.now - before);
  }
  expect(pauses).toEqual([0, 1_000, 2_000, 3_000, 3_000]);
});

test("a refusal counts as an answer, and a call the caller gives up counts for nothing", async () => {
  const { breaker, clock } = breakerAt();
  const refused = () => Promise.reject(new AppError("invalid_input", "No."));
  await breaker.watch(broken).catch(() => undefined);
  await breaker.watch(refused).catch(() => undefined);
  await breaker.watch(broken).catch(() => undefined);
  expect(breaker.state()).toBe("closed");
  await breaker.watch(broken).catch(() => undefined);
  clock.now = 1_000;
  await breaker.watch(broken, AbortSignal.abort()).catch(() => undefined);
  expect(breaker.state()).toBe("trying");
  expect(await breaker.watch(async () => "well")).toBe("well");
});

/** A call that ends when it is told to. */
function pending() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return {
    call: () => promise,
    resolve: () => resolve("well"),
    fail: () => reject(new AppError("unavailable", "Reset.")),
  };
}

test("of many calls that one outage fails, those started before the breaker opened do not count", async () => {
  const { breaker, clock } = breakerAt();
  const calls = Array.from({ length: 16 }, pending);
  const watched = calls.map(({ call }) => breaker.watch(call).catch(() => undefined));
  for (const { fail } of calls) fail();
  await Promise.all(watched);
  expect(() => breaker.check()).toThrow("has failed 2 times in a row (Reset); it is tried again in 1 s.");
  clock.now = 1_000;
  expect(await breaker.watch(async () => "well")).toBe("well");
  expect(breaker.state()).toBe("closed");
});

test("a late failure of a call from before the breaker opened neither ends the trying call nor counts after closing", async () => {
  const { breaker, clock } = breakerAt();
  const [late, later] = [pending(), pending()];
  const watched = [late, later].map(({ call }) => breaker.watch(call).catch(() => "failed"));
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  clock.now = 1_000;
  const probe = pending();
  const trying = breaker.watch(probe.call);
  late.fail();
  await watched[0];
  await expect(breaker.watch(async () => "a second one")).rejects.toMatchObject({ code: "unavailable" });
  probe.resolve();
  await trying;
  later.fail();
  await watched[1];
  await breaker.watch(broken).catch(() => undefined);
  expect(breaker.state()).toBe("closed");
});

test("a good answer to any call closes the breaker at once, before the pause is over", async () => {
  const { breaker } = breakerAt();
  const early = pending();
  const watched = breaker.watch(early.call);
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  expect(breaker.state()).toBe("open");
  early.resolve();
  await watched;
  expect(breaker.state()).toBe("closed");
});

test("a try that fails after something else has closed the breaker does not count", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  clock.now = 1_000;
  const probe = pending();
  const trying = breaker.watch(probe.call).catch(() => "failed");
  breaker.succeeded();
  probe.fail();
  await trying;
  await breaker.watch(broken).catch(() => undefined);
  expect(breaker.state()).toBe("closed");
});

test("failed health checks open the breaker, and never lengthen its pause", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 10; n++) breaker.failed("Refused.");
  expect([breaker.state(), breaker.reason()]).toEqual(["open", "Refused."]);
  clock.now = 1_000;
  expect(breaker.state()).toBe("trying");
});

test("waiting calls are woken when the pause is over, when the trying call is given up, and when the breaker closes", async () => {
  const breaker = createBreaker("maps", { failures: 1, pauseMs: 60, maxPauseMs: 60_000 });
  const woken = () => {
    const signal = breaker.retrySignal();
    return new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  const timeOver = woken();
  await breaker.watch(broken).catch(() => undefined);
  await timeOver;
  const givenUp = woken();
  const probe = pending();
  const trying = breaker.watch(probe.call, AbortSignal.abort()).catch(() => undefined);
  probe.fail();
  await Promise.all([trying, givenUp]);
  expect(breaker.state()).toBe("trying");
  const closed = woken();
  breaker.succeeded();
  await closed;
  const still = breaker.retrySignal();
  breaker.succeeded();
  expect([still.aborted, breaker.retrySignal() === still]).toEqual([false, true]);
});

test.each([
  ["submit", ["message"]],
  ["notify", ["task", "receiver"]],
  ["get", ["task"]],
])("%s that its caller gives up says nothing about the agent", async (name, given) => {
  const { breaker } = breakerAt();
  const watched = watchedClient({ [name]: broken } as unknown as A2aClient, breaker);
  const call = (watched as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name];
  for (const signal of [AbortSignal.abort(), AbortSignal.abort(), new AbortController().signal])
    await call?.(...given, { signal }).catch(() => undefined);
  expect(breaker.state()).toBe("closed");
  await call?.(...given).catch(() => undefined);
  expect(breaker.state()).toBe("open");
});

test("a failed cancel does not open the breaker", async () => {
  const { breaker } = breakerAt();
  const client = { cancel: broken, cancelMessage: broken } as unknown as A2aClient;
  const watched = watchedClient(client, breaker);
  for (let n = 0; n < 3; n++) {
    await watched.cancel("task").catch(() => undefined);
    await watched.cancelMessage("message").catch(() => undefined);
  }
  expect(breaker.state()).toBe("closed");
});

test("a server that is broken, hangs or cannot store is sick; every other refusal is an answer", async () => {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  const opened = await Promise.all(
    codes.map(async (code) => {
      const { breaker } = breakerAt();
      const fails = () => Promise.reject(new AppError(code, "No."));
      for (let n = 0; n < 2; n++) await breaker.watch(fails).catch(() => undefined);
      return breaker.state() === "open" ? [code] : [];
    }),
  );
  expect(opened.flat()).toEqual(["storage_unavailable", "unavailable", "timeout"]);
});

test("a breaker that a good answer has closed lets calls through before its pause would have been over", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  clock.now = 1;
  breaker.succeeded();
  breaker.check();
  expect(await breaker.watch(async () => "there")).toBe("there");
});

test("a refusal says after how many whole seconds the agent is tried, one at least", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  clock.now = 1_000;
  await breaker.watch(broken).catch(() => undefined);
  // It opens for two seconds now.
  for (const [now, seconds] of [
    [1_000, 2],
    [1_999, 2],
    [2_000, 1],
    [2_999, 1],
  ] as const) {
    clock.now = now;
    expect(() => breaker.check()).toThrow(`it is tried again in ${seconds} s.`);
  }
});

test("every call of a client is passed on as it is, also for a principal, and none begins while the breaker is open", async () => {
  const { breaker } = breakerAt();
  const calls: unknown[] = [];
  const call =
    (name: string) =>
    async (...given: unknown[]) => {
      calls.push([name, ...given]);
      return name;
    };
  const stream = (name: string) =>
    async function* (...given: unknown[]) {
      calls.push([name, ...given]);
      yield name;
    };
  const short = ["submit", "notify", "get", "cancel", "cancelMessage", "send", "answer"];
  const long = ["stream", "watch"];
  const client = {
    ...Object.fromEntries([...short.map((name) => [name, call(name)]), ...long.map((name) => [name, stream(name)])]),
    actingFor: () => client,
  } as unknown as A2aClient;
  for (const watched of [watchedClient(client, breaker), watchedClient(client, breaker).actingFor("ann")]) {
    const any = watched as unknown as Record<string, (...given: unknown[]) => unknown>;
    const made = (name: string) =>
      long.includes(name)
        ? Array.fromAsync(any[name]?.("one", "two", "three") as AsyncIterable<unknown>)
        : any[name]?.("one", "two", "three");
    calls.length = 0;
    for (const name of [...short, ...long]) expect([await made(name)].flat()).toEqual([name]);
    expect(calls.map((one) => (one as unknown[]).slice(0, 3))).toEqual(
      [...short, ...long].map((name) => [name, "one", "two"]),
    );
    calls.length = 0;
    for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
    for (const name of [...short, ...long])
      await expect((async () => made(name))()).rejects.toMatchObject({ code: "unavailable" });
    expect(calls).toEqual([]);
    breaker.succeeded();
  }
});

test("a try of an earlier outage that is given up does not let a second try in beside the present one", async () => {
  const { breaker, clock } = breakerAt();
  const outage = async () => {
    for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
    clock.now += 1_000;
  };
  await outage();
  const leaving = new AbortController();
  const old = Promise.withResolvers<string>();
  const former = breaker.watch(() => old.promise, leaving.signal);
  breaker.succeeded();
  await outage();
  const present = pending();
  const trying = breaker.watch(present.call);
  leaving.abort();
  old.reject(leaving.signal.reason);
  await expect(former).rejects.toBe(leaving.signal.reason);
  await expect(breaker.watch(async () => "me too")).rejects.toMatchObject({ code: "unavailable" });
  present.resolve();
  expect([await trying, breaker.state()]).toEqual(["well", "closed"]);
});

test("the end of a pause that is no longer the present one wakes nobody", async () => {
  const clock = { now: 0 };
  const breaker = createBreaker("maps", { failures: 1, pauseMs: 20, maxPauseMs: 60_000 }, () => clock.now);
  await breaker.watch(broken).catch(() => undefined);
  clock.now = 20;
  await breaker.watch(broken).catch(() => undefined);
  const waiting = breaker.retrySignal();
  // Timers fire in the order of their times, however late.
  const wokenAt30 = new Promise((resolve) => setTimeout(() => resolve(waiting.aborted), 30));
  expect(await wokenAt30).toBe(false);
  await new Promise((resolve) => (waiting.aborted ? resolve(true) : waiting.addEventListener("abort", resolve)));
});

test("a bug in a call says nothing about the agent, and of failed checks the last is told", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  breaker.failed("It refuses connections.");
  expect(breaker.reason()).toBe("It refuses connections.");
  clock.now = 1_000;
  const bug = new TypeError("a bug");
  await expect(breaker.watch(() => Promise.reject(bug))).rejects.toBe(bug);
  expect(breaker.state()).toBe("trying");
});
