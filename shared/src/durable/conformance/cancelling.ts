import { describe, expect, test } from "bun:test";
import { type Cases, codeOf, start, until } from "./cases.ts";

/** Cancellation in every state a run can be in. */
export function cancellingCases(cases: Cases): void {
  describe("cancelling", () => {
    test("queued and waiting runs end at once, with their last event", async () => {
      const engine = cases.working(async (run) => run.signal("go"));
      const queued = await start(engine, { kind: "other" });
      const waiting = await start(engine);
      await until(engine, waiting.id, "waiting");
      for (const run of [queued, waiting]) {
        await engine.cancel(run.id);
        expect((await engine.get(run.id))?.status).toBe("canceled");
        const events = await engine.events(run.id);
        expect(events.map((stored) => stored.event)).toEqual([{ type: "run-ended", status: "canceled" }]);
        expect(await codeOf(engine.deliver(run.id, "go", 1))).toBe("run_ended");
      }
    });

    test("canceling a running run aborts its signals, starts no new step and drops late results", async () => {
      const started: string[] = [];
      const begun = Promise.withResolvers<void>();
      const engine = cases.working(async (run) => {
        try {
          return await run.step("work", async ({ signal, emit }) => {
            started.push("work");
            begun.resolve();
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            emit({ type: "late" });
            return "late";
          });
        } finally {
          await run.step("clean up", async () => void started.push("clean up"));
        }
      });
      const run = await start(engine);
      await begun.promise;
      await engine.cancel(run.id);
      const ended = await until(engine, run.id, "canceled");
      expect(ended.output).toBeUndefined();
      expect(started).toEqual(["work"]);
      expect((await engine.events(run.id)).map((stored) => stored.event.type)).toEqual(["run-ended"]);
    });

    test("a run executed in another engine is cancelled there", async () => {
      const begun = Promise.withResolvers<void>();
      cases.working(async (run) =>
        run.step("work", async ({ signal }) => {
          begun.resolve();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return null;
        }),
      );
      const elsewhere = cases.open();
      const run = await start(elsewhere);
      await begun.promise;
      await elsewhere.cancel(run.id);
      expect((await until(elsewhere, run.id, "canceled")).lastEvent).toBe(1);
    });

    test("a body that does not stop, or returns a value anyway, still ends as canceled", async () => {
      const begun = Promise.withResolvers<void>();
      const engine = cases.working(async (run, input) => {
        begun.resolve();
        if (input === "deaf") return run.step("deaf", () => new Promise<null>(() => undefined));
        if (input === "hung") return new Promise<null>(() => undefined);
        return run.step("work", () => new Promise<null>(() => undefined)).catch(() => "done");
      });
      const deaf = await start(engine, { input: "deaf" });
      const hung = await start(engine, { input: "hung" });
      const stubborn = await start(engine, { input: "stubborn" });
      await begun.promise;
      for (const run of [deaf, hung, stubborn]) {
        await until(engine, run.id, "running");
        await engine.cancel(run.id);
      }
      for (const run of [deaf, hung, stubborn]) {
        expect((await until(engine, run.id, "canceled")).output).toBeUndefined();
      }
    });

    test("a cancel right after the start ends the run, whatever its worker is doing with it", async () => {
      const engine = cases.working(async (run) =>
        run.step("work", async ({ signal }) => {
          await new Promise((resolve) => (signal.aborted ? resolve(null) : signal.addEventListener("abort", resolve)));
          return null;
        }),
      );
      for (let turns = 0; turns < 20; turns++) {
        const run = await start(engine);
        for (let turn = 0; turn < turns; turn++) {
          if (turns % 2 === 0) await undefined;
          else await new Promise((resolve) => setImmediate(resolve));
        }
        await engine.cancel(run.id);
        await until(engine, run.id, "canceled");
      }
    });

    test("canceling again is harmless, and refused after any other end", async () => {
      const engine = cases.working(async () => 1);
      const done = await start(engine);
      await until(engine, done.id, "completed");
      expect(await codeOf(engine.cancel(done.id))).toBe("run_ended");
      const queued = await start(engine, { kind: "other" });
      await engine.cancel(queued.id);
      await engine.cancel(queued.id);
      expect((await engine.get(queued.id))?.lastEvent).toBe(1);
    });
  });
}
