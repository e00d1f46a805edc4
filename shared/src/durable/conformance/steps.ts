import { describe, expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { StepContext } from "../../core/runs/run.ts";
import { body, type Cases, codeOf, collect, start, until } from "./cases.ts";

/** What a step records and returns. */
export function stepCases(cases: Cases): void {
  describe("steps", () => {
    test("values come back as JSON keeps them, undefined included", async () => {
      const engine = cases.working(async (run) => {
        const values: Json[] = [];
        for (const value of [0, "", null, false, [], { a: [1, { b: "ü\u0000\n" }] }] as Json[]) {
          values.push(await run.step("value", async () => value));
        }
        const nothing = await run.step("nothing", async () => undefined);
        return { values, nothing: nothing === undefined };
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "completed")).output).toEqual({
        values: [0, "", null, false, [], { a: [1, { b: "ü\u0000\n" }] }],
        nothing: true,
      });
    });

    test("what finished steps recorded under a field can be read, of any run and no other", async () => {
      const engine = cases.working(async (run) => {
        for (const out of [
          { kept: { n: 1, text: "ü\u0000" } },
          { kept: [2, 3] },
          { other: 4 },
          [5],
          "kept",
          null,
        ] as Json[])
          await run.step("one", async () => out);
        await Promise.all([
          run.step("nothing", async () => undefined),
          run.step("two", async () => ({ kept: null, a: 1 })),
        ]);
        return null;
      });
      const [run, other] = [await start(engine), await start(engine)];
      for (const { id } of [run, other]) await until(engine, id, "completed");
      const kept = await engine.recorded(run.id, "kept");
      expect(kept).toHaveLength(3);
      expect(kept).toEqual(expect.arrayContaining([{ n: 1, text: "ü\u0000" }, [2, 3], null]));
      expect(await engine.recorded(run.id, "none")).toEqual([]);
      expect(await codeOf(engine.recorded("missing", "kept"))).toBe("not_found");
      await engine.deleteJournals({ endedBy: Date.now() + 60_000, limit: 10 });
      expect(await engine.recorded(other.id, "kept")).toEqual([]);
    });

    test("all events of a step are there, in their order and without a gap, before and behind those of others", async () => {
      const types = Array.from({ length: 7 }, (_, n) => `told-${n}`);
      const engine = cases.working(async (run) => {
        for (const name of ["one", "two"])
          await run.step(name, async (step) => {
            for (const type of types) step.emit({ type });
            return null;
          });
        return null;
      });
      const run = await start(engine);
      await until(engine, run.id, "completed");
      const events = await engine.events(run.id);
      expect(events.map(({ event }) => event.type)).toEqual([...types, ...types, "run-ended"]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    });

    test("a step's AppError reaches the body with its code, anything else as internal", async () => {
      const engine = cases.working(async (run) => {
        const codes: string[] = [];
        for (const error of [new AppError("timeout", "too slow"), new TypeError("bug")]) {
          try {
            await run.step("throws", async () => {
              throw error;
            });
          } catch (caught) {
            codes.push(caught instanceof AppError ? `${caught.code}: ${caught.message}` : "?");
          }
        }
        return codes;
      });
      const run = await start(engine);
      // What nobody foresaw is for the log alone.
      expect((await until(engine, run.id, "completed")).output).toEqual([
        "timeout: too slow",
        'internal: Step "throws" failed unexpectedly; the log has the cause.',
      ]);
    });

    test("each step has its own key, and events of a step that throws are kept with its error", async () => {
      const keys: string[] = [];
      const engine = cases.working(async (run) => {
        await run.step("a", async (step) => void keys.push(step.key));
        await run
          .step("b", async (step) => {
            keys.push(step.key);
            step.emit({ type: "tried" });
            throw new AppError("timeout", "too slow");
          })
          .catch(() => undefined);
        return null;
      });
      const run = await start(engine);
      await until(engine, run.id, "completed");
      expect(new Set(keys).size).toBe(2);
      expect(keys.every((key) => key.startsWith(`${run.id}/`))).toBe(true);
      expect((await engine.events(run.id)).map((stored) => stored.event.type)).toEqual(["tried", "run-ended"]);
    });

    test("a body cannot tell an event that only the engine may, wherever it tells it", async () => {
      const engine = cases.working(async (run) => {
        const refused: string[] = [];
        for (const type of ["run-ended", "run-paused", "run-resumed"]) {
          const event = { type };
          const ways: Readonly<Record<string, () => unknown>> = {
            emit: () => run.emit(event),
            step: () => run.step("tell", async (step) => void step.emit(event), { effect: "pure" }),
            signal: () => run.signal("never", { events: [event] }),
          };
          for (const [way, tell] of Object.entries(ways)) {
            try {
              await tell();
            } catch {
              refused.push(`${type} by ${way}`);
            }
          }
        }
        return refused;
      });
      const { id } = await start(engine);
      expect((await until(engine, id, "completed")).output).toHaveLength(9);
      expect((await engine.events(id)).map(({ event }) => event.type)).toEqual(["run-ended"]);
    });

    test("what a step tells or shows after its end is neither told nor shown", async () => {
      const engine = cases.open();
      const { id } = await start(engine);
      const items = collect(engine, id);
      const tells = body(async (run) => {
        let late: (() => void) | undefined;
        await run.step("tell", async (step) => {
          step.emit({ type: "told" });
          late = () => {
            step.emit({ type: "late" });
            step.progress({ type: "late" });
          };
          return null;
        });
        late?.();
        while ((await engine.events(id)).length === 0) await Bun.sleep(1);
        await run.step("after", async () => null, { effect: "once" });
        await new Promise((resolve) => setImmediate(resolve));
        late?.();
        return null;
      });
      engine.work([tells]);
      expect((await items).map(({ event }) => event.type)).toEqual(["told", "run-ended"]);
    });

    for (const effect of ["idempotent", "once"] as const) {
      test(`what was recorded before is on disk when a step that is ${effect} begins`, async () => {
        const engine = cases.working(async (run) => {
          const draw = (n: number) => async (step: StepContext) => void step.emit({ type: `drawn-${n}` });
          await run.step("draw", draw(0));
          for (let n = 1; n < 5; n++) await run.step("draw", draw(n), { effect: "pure" });
          const seen = async () => (await engine.events(run.id)).map(({ event }) => event.type);
          return run.step("act", seen, { effect });
        });
        const { output } = await until(engine, (await start(engine)).id, "completed");
        expect(output).toEqual(["drawn-0", "drawn-1", "drawn-2", "drawn-3", "drawn-4"]);
      });
    }

    test("a body that only computes does not starve others", async () => {
      let isOver = false;
      const engine = cases.working(async (run) => {
        const other = run.step("look", async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return !isOver;
        });
        for (let n = 0; n < 500; n++) await run.step("compute", async () => n, { effect: "pure" });
        isOver = true;
        return other;
      });
      expect((await until(engine, (await start(engine)).id, "completed")).output).toBe(true);
    });

    test("a run whose record cannot be written is paused, though its body ran to its end", async () => {
      const engine = cases.working(async (run) => {
        await run.step("tell", async (step) => void step.emit({ type: "told", amount: 1n as never }));
        await run.step("after", async () => ({ kept: "computed" }), { effect: "pure" });
        return "done";
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "paused")).error?.code).toBe("internal");
      expect((await engine.events(run.id)).map(({ event }) => event.type)).toEqual(["run-paused"]);
      // A journal with a gap would be replayed as if its run had done something else.
      expect(await engine.recorded(run.id, "kept")).toEqual([]);
    });

    test("a step the body did not wait for is harmless when it fails or outlives the run", async () => {
      const engine = cases.working(async (run) => {
        void run.step("fails", async () => {
          throw new AppError("stuck", "nobody looks");
        });
        void run.step(
          "late",
          ({ signal }) => new Promise<null>((_, reject) => signal.addEventListener("abort", reject)),
        );
        return run.step("awaited", async () => "done");
      });
      const run = await start(engine);
      expect((await until(engine, run.id, "completed")).output).toBe("done");
      expect((await engine.get((await start(engine)).id))?.kind).toBe("test");
    });
  });
}
