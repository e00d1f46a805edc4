import { describe, expect, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { type Cases, start, until, withinMs } from "./cases.ts";

/** Several workers over one store. */
export function sharingCases(cases: Cases): void {
  describe("sharing", () => {
    test("each of many runs is executed by exactly one of three workers", async () => {
      const executed: string[] = [];
      const execute: Parameters<Cases["working"]>[0] = async (run) => {
        await run.step("count", async () => void executed.push(run.id));
        return null;
      };
      const engines = [cases.working(execute), cases.working(execute), cases.working(execute)];
      const runs = await Promise.all(
        Array.from({ length: 60 }, (_, n) => start(engines[n % 3] ?? cases.open(), { input: n })),
      );
      for (const run of runs) await until(engines[0] ?? cases.open(), run.id, "completed");
      expect(executed.length).toBe(60);
      expect(new Set(executed).size).toBe(60);
    });

    test("kinds taken on apart keep none of the others from starting", async () => {
      const gate = Promise.withResolvers<null>();
      const engine = cases.working(async (run) => run.step("work", async () => "worked"), { concurrency: 1 });
      const watching = { kind: "watching", execute: (run: Run) => run.step("watch", () => gate.promise) };
      engine.work([watching], { concurrency: 2, dedicatedPool: true });
      const watchers = await Promise.all([1, 2, 3].map((input) => start(engine, { kind: "watching", input })));
      const running = () => engine.list({ kind: "watching", statuses: ["running"], limit: 9 });
      const deadline = performance.now() + withinMs;
      while ((await running()).total < 2 && performance.now() < deadline) await Bun.sleep(2);
      expect((await until(engine, (await start(engine)).id, "completed")).output).toBe("worked");
      gate.resolve(null);
      for (const { id } of watchers) await until(engine, id, "completed");
    });

    test("a signal from one engine reaches a run that is in a step in another", async () => {
      const gate = Promise.withResolvers<void>();
      const engine = cases.working(async (run) =>
        run.all<string>([
          (branch) => branch.step("long", () => gate.promise.then(() => "long")),
          (branch) => branch.signal<string>("go").finally(() => gate.resolve()),
        ]),
      );
      const run = await start(engine);
      await until(engine, run.id, "running");
      await cases.open().deliver(run.id, "go", "went");
      expect((await until(engine, run.id, "completed")).output).toEqual(["long", "went"]);
    });
  });
}
