import { expect, spyOn, test } from "bun:test";
import { createDeadline, type Deadline } from "./deadline.ts";

const never = new AbortController().signal;

/** Milliseconds until the deadline ends, with `beat` called every 10 ms; fails after a minute. */
async function endOf(deadline: Deadline, beat: () => void = () => undefined): Promise<number> {
  const begun = performance.now();
  const beating = setInterval(beat, 10);
  try {
    while (!deadline.signal.aborted && performance.now() - begun < 60_000) await Bun.sleep(5);
    expect(deadline.signal.aborted).toBe(true);
    return performance.now() - begun;
  } finally {
    clearInterval(beating);
    deadline.end();
  }
}

test("silence ends a call, and progress extends it", async () => {
  expect(await endOf(createDeadline("slow", 50, 10_000, never))).toBeLessThan(9_000);
  const deadline = createDeadline("busy", 1_000, 60_000, never);
  const begun = performance.now();
  while (performance.now() - begun < 1_500) {
    deadline.go();
    await Bun.sleep(10);
  }
  expect(deadline.signal.aborted).toBe(false);
  deadline.end();
});

test("endless progress does not extend a call for ever", async () => {
  const deadline = createDeadline("endless", 100, 200, never);
  expect(await endOf(deadline, () => deadline.go())).toBeGreaterThanOrEqual(190);
  expect(deadline.signal.reason).toMatchObject({ code: "timeout", message: expect.stringContaining("endless") });
});

test("the timeout pauses while a person is asked, and then resumes", async () => {
  const deadline = createDeadline("asking", 100, 150, never);
  deadline.pause();
  await Bun.sleep(250);
  expect(deadline.signal.aborted).toBe(false);
  deadline.go();
  const left = await endOf(deadline, () => deadline.go());
  expect(left).toBeGreaterThanOrEqual(130);
});

test("a cancelled call ends with the caller's own reason", () => {
  const caller = new AbortController();
  const deadline = createDeadline("any", 1_000, 1_000, caller.signal);
  caller.abort(new Error("called off"));
  expect(deadline.signal.reason.message).toBe("called off");
  deadline.end();
});

test("the time that passed is told in seconds, below one in milliseconds", async () => {
  for (const [ms, told] of [
    [40, "40 ms"],
    [1_040, "1 s"],
  ] as const) {
    const { signal } = createDeadline("shop", ms, 10_000, new AbortController().signal);
    for (const end = performance.now() + 20_000; !signal.aborted && performance.now() < end; ) await Bun.sleep(10);
    expect((signal.reason as Error).message).toBe(`The MCP server shop did not answer within ${told}.`);
  }
});

test("a deadline that has ended is not begun again by what comes to its end later", () => {
  using timers = spyOn(globalThis, "setTimeout");
  const deadline = createDeadline("gone", 1_000, 10_000, never);
  deadline.end();
  deadline.go();
  expect(timers).toHaveBeenCalledTimes(1);
});
