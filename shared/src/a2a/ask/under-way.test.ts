import { expect, test } from "bun:test";
import { createUnderWay } from "./under-way.ts";

test("an execution dropped while it waited leaves nothing to its successor and takes nothing from it", () => {
  const underWay = createUnderWay();
  const dropped = underWay.execution("r");
  underWay.begin("r");
  const next = underWay.execution("r");
  const end = underWay.begin("r");
  dropped.forget();
  expect([dropped.isNone(), next.isNone()]).toEqual([false, false]);
  end();
  expect([dropped.isNone(), next.isNone()]).toEqual([false, true]);
  underWay.begin("r");
  expect(next.isNone()).toBe(false);
});

test("each run is counted separately", () => {
  const underWay = createUnderWay();
  const [one, two] = [underWay.execution("one"), underWay.execution("two")];
  underWay.begin("one");
  expect([one.isNone(), two.isNone()]).toEqual([false, true]);
});

test("an execution that is over is forgotten: later asks are not its own, and ending one harms nobody", () => {
  const underWay = createUnderWay();
  const over = underWay.execution("r");
  over.forget();
  const end = underWay.begin("r");
  expect(over.isNone()).toBe(true);
  end();
  const next = underWay.execution("r");
  expect([over.isNone(), next.isNone()]).toEqual([true, true]);
  expect(underWay.begin("never executed")()).toBeUndefined();
});
