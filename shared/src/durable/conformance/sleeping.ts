import { describe, expect, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { body, type Cases, start, until } from "./cases.ts";

/** Sleeps, short ones in memory and long ones parked. */
export function sleepingCases(cases: Cases): void {
  describe("sleeping", () => {
    test("a sleep takes at least its time and wakes once", async () => {
      let woken = 0;
      const engine = cases.working(async (run) => {
        await run.sleep(30);
        await run.step("after", async () => ++woken);
        return null;
      });
      const begun = performance.now();
      const run = await start(engine);
      await until(engine, run.id, "completed");
      expect(performance.now() - begun).toBeGreaterThanOrEqual(29);
      expect(woken).toBe(1);
    });

    test("a long sleep waits without a body and continues in another engine", async () => {
      let executions = 0;
      const execute: Parameters<Cases["working"]>[0] = async (run) => {
        executions++;
        await run.sleep(1200);
        return "woken";
      };
      const first = cases.working(execute);
      const begun = performance.now();
      const run = await start(first);
      const waiting = await until(first, run.id, "waiting");
      expect(waiting.waiting).toBeUndefined();
      await first.close();
      const second = cases.open({ looks: true });
      second.work([body(execute)]);
      expect((await until(second, run.id, "completed")).output).toBe("woken");
      // The clocks of two lives agree to the ten milliseconds in which the system tells its uptime.
      expect(performance.now() - begun).toBeGreaterThanOrEqual(1190);
      expect(executions).toBe(2);
    });

    test("of two sleeps the shorter one ends first, whichever began first", async () => {
      for (const lengths of [
        [60_000, 20],
        [20, 60_000],
      ]) {
        const engine = cases.working(async (run) =>
          run.race(lengths.map((milliseconds) => async (own) => own.sleep(milliseconds).then(() => milliseconds))),
        );
        expect((await until(engine, (await start(engine)).id, "completed")).output).toBe(20);
        await engine.close();
      }
    });

    test("a sleep ends when it is woken, once, and elsewhere when its time is over", async () => {
      const waker = new AbortController();
      let executions = 0;
      const both = Promise.withResolvers<void>();
      const sleeper = (until: AbortSignal) => async (run: Run) => {
        if (++executions === 2) both.resolve();
        await run.sleep(60_000, { until });
        await run.signal("go");
        return "woken";
      };
      const engine = cases.working(sleeper(waker.signal));
      const [run, left] = [await start(engine), await start(engine)];
      await until(engine, run.id, "running");
      // An engine may begin the other one later.
      await both.promise;
      await Bun.sleep(50);
      expect((await engine.get(run.id))?.status).toBe("running");
      await engine.cancel(left.id);
      await until(engine, left.id, "canceled");
      waker.abort();
      await until(engine, run.id, "waiting");
      await engine.close();
      // The signal that woke it is gone, and it still does not sleep again.
      const second = cases.working(sleeper(new AbortController().signal));
      await second.deliver(run.id, "go", null);
      expect((await until(second, run.id, "completed")).output).toBe("woken");
      expect(executions).toBe(3);
    });

    test("an invalid sleep length throws in the body, and none is a valid one", async () => {
      const engine = cases.working(async (run) => {
        const refused: number[] = [];
        for (const milliseconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
          await run.sleep(milliseconds).catch(() => refused.push(milliseconds));
        }
        return refused.map(String);
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "completed")).output).toEqual(["-1", "NaN", "Infinity"]);
    });
  });
}
