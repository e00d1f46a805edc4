import { describe, expect, test } from "bun:test";
import { type Cases, start, until } from "./cases.ts";

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

    test("a long sleep waits without a body and goes on in another engine", async () => {
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
      const second = cases.working(execute);
      expect((await until(second, run.id, "completed")).output).toBe("woken");
      expect(performance.now() - begun).toBeGreaterThanOrEqual(1199);
      expect(executions).toBe(2);
    });

    test("a length that is no length is an error of the body", async () => {
      const engine = cases.working(async (run) => {
        await run.sleep(Number.NaN);
        return null;
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "failed")).error?.code).toBe("internal");
    });
  });
}
