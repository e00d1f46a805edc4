import { expect, spyOn, test } from "bun:test";
import { watchMemory } from "./memory-watch.ts";

test.skipIf(process.platform !== "linux")(
  "a process is watched ten times a second, told of once, and keeps nothing alive by being watched",
  async () => {
    let isHeld = true;
    const timer = {
      unref() {
        isHeld = false;
      },
    };
    using every = spyOn(globalThis, "setInterval").mockReturnValue(timer as never);
    using ended = spyOn(globalThis, "clearInterval").mockReturnValue(undefined);
    let told = 0;
    const look = async (most: number, pid = process.pid) => {
      const unwatch = watchMemory(pid, most, () => told++);
      const [act, ms] = every.mock.calls.at(-1) ?? [];
      await (act as () => Promise<void>)();
      return { unwatch, ms, ended: ended.mock.calls.splice(0) };
    };
    expect(await look(2 ** 50)).toMatchObject({ ms: 100, ended: [] });
    expect([told, isHeld]).toEqual([0, false]);
    expect((await look(2 ** 20)).ended).toEqual([[timer]] as never);
    expect(told).toBe(1);
    // One that is gone uses nothing.
    const { unwatch } = await look(0, 2 ** 30);
    expect([told, ended.mock.calls.length]).toEqual([1, 0]);
    unwatch();
    expect(ended.mock.calls).toEqual([[timer]] as never);
  },
);
