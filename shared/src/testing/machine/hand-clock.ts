import { spyOn } from "bun:test";

/**
 * A clock moved by hand, until `mock.restore()`: the waits that were begun so far; `next` lets the
 * last one pass, and all that it starts come to rest.
 */
export function handClock() {
  const waits: number[] = [];
  const state = { fire: () => {}, cleared: 0 };
  const timer = { unref: () => timer };
  spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms: number) => {
    waits.push(ms);
    state.fire = work;
    return timer;
  }) as never);
  spyOn(globalThis, "clearTimeout").mockImplementation(((one: unknown) => {
    if (one === timer) state.cleared++;
  }) as never);
  const rest = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const next = async () => {
    state.fire();
    await rest();
  };
  return { waits, next, rest, state };
}
