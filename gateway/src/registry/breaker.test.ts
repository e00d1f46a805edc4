import { expect, test } from "bun:test";
import { AppError } from "@manyhands/shared/errors";
import { createBreaker } from "./breaker.ts";

const broken = () => Promise.reject(new AppError("unavailable", "HTTP status 502."));

/** A breaker that opens after two failures, for a second at first, and its clock. */
function breakerAt() {
  const clock = { now: 0 };
  const policy = { failures: 2, pauseMs: 1_000, maxPauseMs: 3_000 };
  return { clock, breaker: createBreaker("maps", policy, () => clock.now) };
}

test("after failures in a row nothing is sent, and the refusal names the last one", async () => {
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

test("when its time is over one call tries for all, and decides", async () => {
  const { breaker, clock } = breakerAt();
  for (let n = 0; n < 2; n++) await breaker.watch(broken).catch(() => undefined);
  clock.now = 1_000;
  breaker.check();
  const slow = Promise.withResolvers<string>();
  const trying = breaker.watch(() => slow.promise);
  expect(breaker.state()).toBe("trying");
  await expect(breaker.watch(async () => "me too")).rejects.toMatchObject({ code: "unavailable" });
  slow.resolve("back");
  expect([await trying, breaker.state()]).toEqual(["back", "closed"]);
});

test("each failed try makes the pause longer, up to a bound", async () => {
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

test("a refusal is an answer, and what the caller gives up says nothing", async () => {
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
