import { describe, expect, test } from "bun:test";
import { type Cases, start, until } from "./cases.ts";

/**
 * What a body gets when it is executed again: every wait here ends one execution and starts
 * another.
 */
export function replayCases(cases: Cases): void {
  describe("replay", () => {
    test("finished steps are not run again and hand back the same values and errors", async () => {
      const ran: string[] = [];
      const engine = cases.working(async (run) => {
        const seen: unknown[] = [];
        for (const name of ["a", "b"]) {
          seen.push(await run.step(name, async () => ({ name, at: ran.push(name) })));
          const failed = run.step(`${name}!`, async () => {
            ran.push(`${name}!`);
            throw new TypeError(name);
          });
          seen.push(await failed.catch((error) => `${error.code} ${error.message}`));
          await run.signal(name);
        }
        return JSON.stringify(seen);
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "a", null);
      await engine.deliver(run.id, "b", null);
      const { output } = await until(engine, run.id, "completed");
      expect(ran).toEqual(["a", "a!", "b", "b!"]);
      expect(JSON.parse(String(output))).toEqual([
        { name: "a", at: 1 },
        expect.stringMatching(/^internal /),
        { name: "b", at: 3 },
        expect.stringMatching(/^internal /),
      ]);
    });

    test("emitted events are appended once, however often the body is executed", async () => {
      const engine = cases.working(async (run) => {
        run.emit({ type: "begun" });
        for (const n of [1, 2, 3]) {
          await run.signal("go");
          run.emit({ type: "went", n });
        }
        return null;
      });
      const run = await start(engine);
      for (const n of [1, 2, 3]) {
        await until(engine, run.id, "waiting");
        await engine.deliver(run.id, "go", n, { id: `${n}` });
      }
      await until(engine, run.id, "completed");
      const types = (await engine.events(run.id)).map((stored) => stored.event.type);
      expect(types).toEqual(["begun", "went", "went", "went", "run-ended"]);
    });

    test("polls and races hand back their first results, though more has arrived since", async () => {
      const engine = cases.working(async (run) => {
        const before = await run.poll("steer");
        const winner = await run.race<string>([
          (branch) => branch.signal("never"),
          (branch) => branch.step("quick", async () => "quick"),
        ]);
        await run.signal("go");
        return { before, winner };
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "steer", 1);
      await engine.deliver(run.id, "never", "late");
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toEqual({ before: [], winner: "quick" });
    });

    test("branches with several steps replay correctly, whatever order they finished in", async () => {
      let runs = 0;
      const engine = cases.working(async (run) => {
        const branch = (name: string, pauses: number[]) => async (own: typeof run) => {
          const got: string[] = [];
          for (const [index, pause] of pauses.entries()) {
            got.push(
              await own.step(`${name}${index}`, async () => {
                runs++;
                await Bun.sleep(pause);
                return `${name}${index}`;
              }),
            );
          }
          return got.join();
        };
        const all = await run.all([branch("a", [9, 1, 1]), branch("b", [1, 9]), branch("c", [1])]);
        await run.signal("go");
        return all;
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toEqual(["a0,a1,a2", "b0,b1", "c0"]);
      expect(runs).toBe(6);
    });

    test("a body gets the recorded form of a value the first time too", async () => {
      const engine = cases.working(async (run) => {
        const shared = { list: [1] };
        const got = await run.step("a", async () => shared);
        shared.list.push(2);
        return got;
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "completed")).output).toEqual({ list: [1] });
    });
  });
}
