import { expect, jest, test } from "bun:test";
import { Watch } from "./watch.ts";

/** A watch of a store whose version is each of these in turn; polls come with `jest`'s clock. */
function watching(versions: readonly (number | undefined)[]) {
  const left = [...versions];
  const told = { changes: 0, ticks: 0 };
  const watch = new Watch({
    pollMs: 10,
    version: () => left.shift(),
    onChange: () => void told.changes++,
    onTick: () => void told.ticks++,
  });
  return { watch, told };
}

test("each new version is one change, and a store that cannot be read is none", () => {
  jest.useFakeTimers();
  try {
    const { watch, told } = watching([1, 1, 2, 2, undefined, 2, 3]);
    const stop = watch.need();
    const seen = Array.from({ length: 6 }, () => {
      jest.advanceTimersByTime(10);
      return told.changes;
    });
    expect(seen).toEqual([0, 1, 1, 1, 1, 2]);
    expect(told.ticks).toBe(6);
    stop();
  } finally {
    jest.useRealTimers();
  }
});

test("it polls while anybody needs it, however often one stops, and never after it was closed", () => {
  jest.useFakeTimers();
  try {
    const { watch, told } = watching([]);
    const [first, second] = [watch.need(), watch.need()];
    const ticks = () => {
      const before = told.ticks;
      jest.advanceTimersByTime(20);
      return told.ticks - before;
    };
    first();
    first();
    expect(ticks()).toBe(2);
    second();
    expect(ticks()).toBe(0);
    watch.need();
    expect(ticks()).toBe(2);
    watch.close();
    expect(ticks()).toBe(0);
    watch.need();
    expect(ticks()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
