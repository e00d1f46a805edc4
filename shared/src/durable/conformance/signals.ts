import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import { body, type Cases, codeOf, start, until } from "./cases.ts";

/** Signals before, during and after a wait. */
export function signalCases(cases: Cases): void {
  describe("signals", () => {
    test("a signal that arrives before the wait is kept for it", async () => {
      const engine = cases.open();
      const run = await start(engine);
      expect(await engine.deliver(run.id, "go", { n: 1 })).toBe("stored");
      engine.work([body(async (run) => run.signal("go"))]);
      expect((await until(engine, run.id, "completed")).output).toEqual({ n: 1 });
    });

    test("poll takes what has arrived, in order, once, and never waits", async () => {
      const engine = cases.open();
      const run = await start(engine);
      for (const n of [1, 2, 3]) await engine.deliver(run.id, "steer", n, { id: `${n}` });
      engine.work([body(async (run) => [await run.poll("steer"), await run.poll("steer")])]);
      expect((await until(engine, run.id, "completed")).output).toEqual([[1, 2, 3], []]);
    });

    test("a signal reaches a branch while another branch is in a step", async () => {
      const gate = Promise.withResolvers<void>();
      const engine = cases.working(async (run) =>
        run.all<Json>([
          async (branch) => branch.step("long", () => gate.promise.then(() => "long")),
          async (branch) => {
            const got = await branch.signal<Json>("go");
            gate.resolve();
            return got;
          },
        ]),
      );
      const run = await start(engine);
      await until(engine, run.id, "running");
      await engine.deliver(run.id, "go", "went");
      expect((await until(engine, run.id, "completed")).output).toEqual(["long", "went"]);
    });

    test("the first delivery under an id wins, later ones are duplicates, and after the end new ones are refused", async () => {
      const engine = cases.open();
      const run = await start(engine);
      expect(await engine.deliver(run.id, "go", 1, { id: "m1" })).toBe("stored");
      expect(await engine.deliver(run.id, "go", 2, { id: "m1" })).toBe("duplicate");
      expect(await engine.deliver(run.id, "go", 3, { id: "m2" })).toBe("stored");
      expect(await engine.deliver(run.id, "once", 4)).toBe("stored");
      expect(await engine.deliver(run.id, "once", 5)).toBe("duplicate");
      engine.work([body(async (run) => [await run.signal("go"), await run.signal("go"), await run.signal("once")])]);
      expect((await until(engine, run.id, "completed")).output).toEqual([1, 3, 4]);
      expect(await engine.deliver(run.id, "go", 9, { id: "m1" })).toBe("duplicate");
      expect(await codeOf(engine.deliver(run.id, "go", 9, { id: "m3" }))).toBe("run_ended");
    });

    test("a signal for a run that has gone on since is outdated, and nothing of it is stored", async () => {
      const engine = cases.open();
      const run = await start(engine);
      const told = [{ type: "told" }];
      expect(await engine.deliver(run.id, "go", 1, { id: "m1", events: told, ifLast: run.lastEvent })).toBe("stored");
      expect(await engine.deliver(run.id, "go", 2, { id: "m2", events: told, ifLast: run.lastEvent })).toBe("outdated");
      expect(await engine.deliver(run.id, "go", 1, { id: "m1", ifLast: run.lastEvent })).toBe("duplicate");
      const { lastEvent = 0 } = (await engine.get(run.id)) ?? {};
      expect(lastEvent).toBe(run.lastEvent + 1);
      expect(await engine.deliver(run.id, "go", 3, { id: "m2", ifLast: lastEvent })).toBe("stored");
      engine.work([body(async (run) => [await run.signal("go"), await run.signal("go")])]);
      expect((await until(engine, run.id, "completed")).output).toEqual([1, 3]);
    });
  });
}
