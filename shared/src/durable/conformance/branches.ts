import { describe, expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Run } from "../../core/runs/run.ts";
import { type Cases, codeOf, start, until } from "./cases.ts";

/** How `all` and `race` end, and what happens to the other branches. */
export function branchCases(cases: Cases): void {
  describe("branches", () => {
    test("all gives the values in order, and an empty list for no branches", async () => {
      const engine = cases.working(async (run) => {
        const slow = run.all([
          async (branch) => branch.step("slow", () => Bun.sleep(8).then(() => 1)),
          async (branch) => branch.step("quick", async () => 2),
        ]);
        return { values: await slow, none: (await run.all([])).length };
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "completed")).output).toEqual({ values: [1, 2], none: 0 });
    });

    test("when a branch fails the others are aborted, awaited, and the failure is thrown again at replay", async () => {
      const log: string[] = [];
      const engine = cases.working(async (run) => {
        const failed = run.all<Json>([
          async (branch) =>
            branch.step("patient", async ({ signal }) => {
              await new Promise((resolve) => signal.addEventListener("abort", resolve));
              await Bun.sleep(5);
              log.push("stopped");
              return "too late";
            }),
          async (branch) => {
            await branch.step("fails", async () => {
              throw new AppError("stuck", "no way on");
            });
            return null;
          },
        ]);
        const code = await codeOf(failed);
        log.push(code);
        await run.signal("go");
        return code;
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toBe("stuck");
      expect(log).toEqual(["stopped", "stuck", "stuck"]);
    });

    test("the first branch to reject decides a race too", async () => {
      const engine = cases.working(async (run) => {
        const race = () =>
          run.race<Json>([
            (branch) => branch.signal("never"),
            async () => {
              throw new AppError("timeout", "too slow");
            },
          ]);
        const codes = [await codeOf(race())];
        await run.signal("go");
        return codes;
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toEqual(["timeout"]);
    });

    test("the recorded winner stays the winner, though both finished and a replay reaches the other first", async () => {
      const engine = cases.working(async (run) => {
        const winner = await run.race<string>([
          (branch) => branch.step("second", () => microtasks(8).then(() => "second")),
          (branch) => branch.step("first", () => microtasks(1).then(() => "first")),
        ]);
        await run.signal("go");
        return winner;
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toBe("first");
    });

    test("a loser's long history does not disturb the replay of what came after it", async () => {
      const engine = cases.working(async (run) => {
        await run.signal("go");
        const longer = Promise.withResolvers<void>();
        return run.race<string>([
          async (branch) => {
            for (let n = 0; n < 50; n++) await branch.step("work", async () => n);
            longer.resolve();
            return branch.signal("never");
          },
          async (branch) => branch.step("win", () => longer.promise.then(() => "won")),
        ]);
      });
      const run = await start(engine);
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toBe("won");
    });

    test("inside a loser too a replay begins nothing that the race had ended", async () => {
      const began: string[] = [];
      const reached = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const nested = async (branch: Run) => {
        await branch.step("early", async () => began.push("early"));
        reached.resolve();
        await held.promise;
        return branch.step("late", async () => began.push("late"));
      };
      const engine = cases.working(async (run) => {
        const winner = await run.race<string>([
          async (branch) => {
            const inner = branch.all([nested, (own) => own.race([nested])]);
            return `lost ${(await inner).length}`;
          },
          async (branch) => {
            await branch.step("waits", () => reached.promise.then(() => null));
            for (let n = 0; n < 50; n++) await branch.step("work", async () => n);
            return "won";
          },
        ]);
        await run.signal("go");
        return winner;
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      const before = [...began];
      // What held the loser back holds it no longer when the body is executed again.
      held.resolve();
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toBe("won");
      expect(began).toEqual(before);
    });

    test("a race does not wait for a loser that ignores its abort", async () => {
      const engine = cases.working(async (run) =>
        run.race<string>([
          (branch) => branch.step("deaf", () => new Promise(() => undefined)),
          (branch) => branch.step("quick", async () => "quick"),
        ]),
      );
      const run = await start(engine);
      expect((await until(engine, run.id, "completed")).output).toBe("quick");
    });

    test("nested branches and timeouts by race replay correctly", async () => {
      const engine = cases.working(async (run) => {
        const outcome = await run.all([
          (own) =>
            own.race<string>([
              async (branch) => branch.signal<string>("answer"),
              async (branch) => branch.sleep(3_600_000).then(() => "timeout"),
            ]),
          async (own) => (await own.all([(branch) => branch.signal<string>("other")])).join(),
        ]);
        await run.signal("go");
        return outcome;
      });
      const run = await start(engine);
      for (const name of ["other", "answer", "go"]) {
        await until(engine, run.id, "waiting");
        await engine.deliver(run.id, name, `the ${name}`);
      }
      expect((await until(engine, run.id, "completed")).output).toEqual(["the answer", "the other"]);
    });
  });
}

async function microtasks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await undefined;
}
