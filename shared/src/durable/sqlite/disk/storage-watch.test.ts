import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { busyPatienceMs, StorageWatch } from "./storage-watch.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const full = Object.assign(new Error("write failed"), { code: "SQLITE_FULL" });
const busy = Object.assign(new Error("locked"), { code: "SQLITE_BUSY" });

/** A watch, what it told, and after which pauses it had things tried again. */
function watching() {
  const told: string[] = [];
  const pauses: number[] = [];
  let since = performance.now();
  const note = (what: string) => () => void told.push(what);
  const watch: StorageWatch = new StorageWatch({
    path: "/runs.db",
    log: {
      warn: note("works again"),
      error: (about) => void told.push(`log: ${(about as { reason: string }).reason}`),
    },
    onRetry() {
      pauses.push(performance.now() - since);
      since = performance.now();
    },
    onRefusing: note("refusing"),
    onRecovered: note("recovered"),
  });
  return {
    watch,
    told,
    /** Fails so, again at each retry, and returns the pauses. */
    failing(error: unknown, times: number): number[] {
      pauses.length = 0;
      since = performance.now();
      for (let n = 1; n <= times; n++) {
        watch.failed(error);
        for (let ms = 0; pauses.length < n && ms < 10_000; ms++) jest.advanceTimersByTime(1);
      }
      return [...pauses];
    },
  };
}

test("what failed is tried again after pauses that double up to two seconds, and begin anew once it worked", () => {
  const { watch, failing } = watching();
  const whole = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2000, 2000];
  expect(failing(full, whole.length)).toEqual(whole);
  watch.worked();
  expect(failing(full, 1)).toEqual([5]);
});

test("for a lock that another process holds nothing is refused before five seconds without a success, and the pauses stay short", () => {
  const { watch, told, failing } = watching();
  expect(failing(busy, 3)).toEqual([5, 5, 5]);
  watch.worked();
  const held = (ms: number) => {
    watch.failed(busy);
    expect(watch.isPausing).toBe(true);
    jest.advanceTimersByTime(ms);
    watch.failed(busy);
    return watch.isFailing;
  };
  expect(held(busyPatienceMs - 100)).toBe(false);
  watch.worked();
  // What was before does not count.
  expect(held(busyPatienceMs - 100)).toBe(false);
  jest.advanceTimersByTime(5);
  expect([watch.isPausing, watch.health(), told]).toEqual([false, { ok: true }, []]);
  jest.advanceTimersByTime(100);
  watch.failed(busy);
  expect(watch.isFailing).toBe(true);
  expect(told).toEqual(["log: another process holds it (SQLITE_BUSY)", "refusing"]);
});

test("a failure is told once for each reason, refused until it works, and its end is told once", () => {
  const { watch, told } = watching();
  watch.worked();
  expect(told).toEqual([]);
  watch.failed(full);
  watch.failed(full);
  expect(told).toEqual(["log: its disk is full (SQLITE_FULL)", "refusing", "refusing"]);
  const reason = "The run store is unavailable: its disk is full (SQLITE_FULL).";
  expect(watch.health()).toEqual({ ok: false, reason });
  expect(watch.refusal()).toMatchObject({ code: "storage_unavailable", message: reason, cause: full });
  watch.failed(new Error("The device is gone."));
  expect(told.slice(3)).toEqual(["log: The device is gone.", "refusing"]);
  watch.worked();
  watch.worked();
  expect(told.slice(5)).toEqual(["works again", "recovered"]);
  expect([watch.health(), watch.refusal(busy).message]).toEqual([
    { ok: true },
    "The run store is unavailable: another process holds it (SQLITE_BUSY).",
  ]);
});

test("failures that come together are tried again once, and after the end nothing is", () => {
  const { watch, failing } = watching();
  watch.failed(full);
  expect(failing(full, 1)).toEqual([5]);
  watch.failed(full);
  watch.close();
  expect(failing(full, 3)).toEqual([]);
  const closed = watching();
  closed.watch.close();
  expect(closed.failing(full, 1)).toEqual([]);
});
