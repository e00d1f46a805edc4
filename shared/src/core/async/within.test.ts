import { expect, spyOn, test } from "bun:test";
import { abortable, within } from "./within.ts";

const never = new Promise<string>(() => undefined);

test("work that cannot be stopped is left when its signal aborts, also where that happened before", async () => {
  const stop = new AbortController();
  const left = abortable(never, stop.signal);
  stop.abort(new Error("canceled"));
  await expect(left).rejects.toThrow("canceled");
  await expect(abortable(never, stop.signal)).rejects.toThrow("canceled");
  expect(await abortable(Promise.resolve("done"), new AbortController().signal)).toBe("done");
});

test("work that fails after its signal aborted harms nobody, even if it began after that", async () => {
  const failed: unknown[] = [];
  const note = (error: unknown) => failed.push(error);
  process.on("unhandledRejection", note);
  const work = Promise.withResolvers<string>();
  await expect(abortable(work.promise, AbortSignal.abort("canceled"))).rejects.toBe("canceled");
  work.reject(new Error("failed late"));
  await Bun.sleep(1);
  process.off("unhandledRejection", note);
  expect(failed).toEqual([]);
});

test("work that hangs or fails has no outcome", async () => {
  expect(await within(1, never)).toBeUndefined();
  expect(await within(60_000, Promise.reject(new Error("no")))).toBeUndefined();
  expect(await within(60_000, Promise.resolve("done"))).toBe("done");
});

test("neither leaves a timer or a listener behind", async () => {
  const cleared = spyOn(globalThis, "clearTimeout");
  await within(60_000, Promise.resolve());
  const timers = cleared.mock.calls.length;
  cleared.mockRestore();
  expect(timers).toBe(1);
  const stop = new AbortController();
  using added = spyOn(stop.signal, "addEventListener");
  using removed = spyOn(stop.signal, "removeEventListener");
  await abortable(Promise.resolve(), stop.signal);
  await abortable(Promise.reject(new Error("no")), stop.signal).catch(() => undefined);
  const listeners = ({ mock }: typeof added | typeof removed) => mock.calls.map(([, listener]) => listener);
  expect(listeners(added)).toHaveLength(2);
  expect(listeners(removed)).toEqual(listeners(added));
});
