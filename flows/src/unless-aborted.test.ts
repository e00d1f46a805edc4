import { expect, spyOn, test } from "bun:test";
import { unlessAborted } from "./unless-aborted.ts";

const never = () => new Promise<never>(() => undefined);

test("what comes first counts: the value, the failure, or the reason of an abort, even one from before", async () => {
  const gone = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), gone.signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error("no")), gone.signal)).rejects.toThrow("no");
  const waiting = unlessAborted(never(), gone.signal);
  gone.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(unlessAborted(never(), gone.signal)).rejects.toThrow("gone");
});

test("a signal that outlives many promises keeps none of them", async () => {
  const { signal } = new AbortController();
  using added = spyOn(signal, "addEventListener");
  using removed = spyOn(signal, "removeEventListener");
  await unlessAborted(Promise.resolve(1), signal);
  await unlessAborted(Promise.reject(new Error("no")), signal).catch(() => undefined);
  const listeners = ({ mock }: typeof added | typeof removed) => mock.calls.map(([, listener]) => listener);
  expect(listeners(added)).toHaveLength(2);
  expect(listeners(removed)).toEqual(listeners(added));
});
