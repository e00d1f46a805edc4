import { expect, test } from "bun:test";
import { lazily } from "./lazy.ts";

test("it is made when it is first needed, and only once", async () => {
  let made = 0;
  const one = lazily(async () => ++made);
  expect(one.made()).toBeUndefined();
  expect(await Promise.all([one.get(), one.get()])).toEqual([1, 1]);
  expect(await one.made()).toBe(1);
  expect(await one.get()).toBe(1);
});

test("after a failure the next call tries again", async () => {
  let tries = 0;
  const one = lazily(async () => {
    tries += 1;
    if (tries === 1) throw new Error("not yet");
    return tries;
  });
  await expect(one.get()).rejects.toThrow("not yet");
  expect(one.made()).toBeUndefined();
  expect(await one.get()).toBe(2);
});
