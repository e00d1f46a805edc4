import { expect, spyOn, test } from "bun:test";
import { watch, within } from "./watchdog.ts";

const silent = new Promise<never>(() => {});

test("an answer that is late fails as unavailable, and an abort gives its own reason", async () => {
  const inTime = within(Promise.resolve(7), 1000, new AbortController().signal);
  expect(await inTime).toBe(7);
  const late = within(silent, 5, new AbortController().signal);
  expect(await late.catch((error: unknown) => error)).toMatchObject({ kind: "unavailable" });
  const reason = new Error("canceled");
  const controller = new AbortController();
  const aborted = within(silent, 1000, controller.signal);
  controller.abort(reason);
  expect(await aborted.catch((error: unknown) => error)).toBe(reason);
  expect(await within(Promise.resolve(7), 1000, AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(
    reason,
  );
});

test("what was waited for in time leaves neither a timer nor a listener", async () => {
  const { signal } = new AbortController();
  using began = spyOn(signal, "addEventListener");
  using ended = spyOn(signal, "removeEventListener");
  using cleared = spyOn(globalThis, "clearTimeout");
  for (const one of [1, 2]) await within(Promise.resolve(one), 60_000, signal);
  expect([began, ended, cleared].map((spy) => spy.mock.calls.length)).toEqual([2, 2, 2]);
});

test("empty items do not start the shorter limit, and a slow reader is not a stall", async () => {
  async function* source() {
    yield "";
    await Bun.sleep(60);
    yield "word";
    yield "another";
  }
  const limits = { firstDeltaTimeoutMs: 5000, idleTimeoutMs: 30 };
  const seen: string[] = [];
  for await (const item of watch(source(), (text) => text !== "", limits, new AbortController().signal)) {
    seen.push(item);
    await Bun.sleep(40);
  }
  expect(seen).toEqual(["", "word", "another"]);
});

test("after the first words the shorter limit holds, for every later silence", async () => {
  async function* source() {
    yield "";
    yield "word";
    yield "";
    await silent;
  }
  const limits = { firstDeltaTimeoutMs: 5000, idleTimeoutMs: 20 };
  const seen: string[] = [];
  const reading = async () => {
    for await (const item of watch(source(), (text) => text !== "", limits, new AbortController().signal))
      seen.push(item);
  };
  await expect(reading()).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("20 ms") });
  expect(seen).toEqual(["", "word", ""]);
});

test("an abort that was before ends a silence, and one at the moment of the value wins over it", async () => {
  const reason = new Error("canceled");
  await expect(within(silent, 60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const value = Promise.resolve(7);
  const both = within(value, 60_000, controller.signal);
  void value.then(() => controller.abort(reason));
  await expect(both).rejects.toBe(reason);
});
