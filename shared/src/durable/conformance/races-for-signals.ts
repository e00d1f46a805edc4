import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import { body, type Cases, start, until } from "./cases.ts";

/** A signal is never lost to a branch that no longer needs it. */
export function signalRaceCases(cases: Cases): void {
  describe("races for signals", () => {
    test("of two stored signals, a race takes one and leaves the other", async () => {
      const engine = cases.open();
      const run = await start(engine);
      await engine.deliver(run.id, "a", "A");
      await engine.deliver(run.id, "b", "B");
      engine.work([
        body(async (own) => [
          await own.race<Json>([(branch) => branch.signal("a"), (branch) => branch.signal("b")]),
          await own.poll("a"),
          await own.poll("b"),
        ]),
      ]);
      expect((await until(engine, run.id, "completed")).output).toEqual(["A", [], ["B"]]);
    });

    test("a signal that arrives while a step decides the race is still there afterwards", async () => {
      const engine = cases.open();
      const run = await start(engine);
      let deliver = (): Promise<unknown> => Promise.resolve();
      engine.work([
        body(async (own) => {
          const first = await own.race<Json>([
            (branch) => branch.signal("message"),
            (branch) => branch.step("work", () => deliver().then(() => null)),
          ]);
          return [first, await own.poll("message")];
        }),
      ]);
      deliver = () => engine.deliver(run.id, "message", "hi");
      const { output } = await until(engine, run.id, "completed");
      expect(JSON.stringify(output)).toContain("hi");
    });

    test("whenever a signal arrives while a step decides a race, the race takes it or a poll finds it", async () => {
      const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
      const engine = cases.working(async (own, input) => {
        const [before, behind] = input as [number, number];
        const deliver = async () => {
          for (let turns = 0; turns < before; turns++) await turn();
          await engine.deliver(own.id, "message", "hi");
          for (let turns = 0; turns < behind; turns++) await turn();
          return "decided";
        };
        const first = await own.race<Json>([
          (branch) => branch.signal("message"),
          (branch) => branch.step("decide", deliver, { effect: "pure" }),
        ]);
        return [first, ...(await own.poll("message"))];
      });
      const delays = Array.from({ length: 24 }, (_, n) => [n % 6, Math.floor(n / 6)]);
      const runs = await Promise.all(delays.map((input) => start(engine, { input })));
      for (const { id } of runs) expect((await until(engine, id, "completed")).output).toContain("hi");
    });

    test("an answer that arrived before its deadline wins, though both are due when the run continues", async () => {
      const first = cases.working(async () => null);
      const run = await start(first, { kind: "later" });
      const late = {
        kind: "later",
        execute: async (own: Parameters<Parameters<Cases["working"]>[0]>[0]) =>
          own.race<string>([(branch) => branch.sleep(1).then(() => "deadline"), (branch) => branch.signal("answer")]),
      };
      await first.deliver(run.id, "answer", "answer");
      first.work([late]);
      expect((await until(first, run.id, "completed")).output).toBe("answer");
    });

    test("waits of the same name in several branches each get a signal of their own", async () => {
      const engine = cases.working(async (run) => {
        const got = await run.all(Array.from({ length: 3 }, () => (branch) => branch.signal<number>("n")));
        return got.toSorted();
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await Promise.all([1, 2, 3].map((n) => engine.deliver(run.id, "n", n, { id: `${n}` })));
      expect((await until(engine, run.id, "completed")).output).toEqual([1, 2, 3]);
    });
  });
}
