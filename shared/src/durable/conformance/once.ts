import { describe, expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Effect, Run } from "../../core/runs/run.ts";
import { type Cases, start, until } from "./cases.ts";

/** Steps whose process died before their result was recorded. */
export function interruptedCases(cases: Cases): void {
  describe("interrupted steps", () => {
    /**
     * Starts a step with this effect, closes its engine while the step is in flight, and returns
     * how another engine continues it.
     */
    async function interrupt(effect: Effect): Promise<{ starts: number; output: Json | undefined }> {
      let starts = 0;
      const begun = Promise.withResolvers<void>();
      const execute = async (run: Run): Promise<Json> => {
        try {
          return await run.step("act", ({ signal }) => act(signal), { effect });
        } catch (error) {
          return error instanceof AppError ? error.code : Promise.reject(error);
        }
      };
      const act = async (signal: AbortSignal): Promise<string> => {
        if (++starts > 1) return "acted";
        begun.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      };
      const first = cases.working(execute);
      const run = await start(first);
      await begun.promise;
      await first.close({ graceMs: 0 });
      const second = cases.working(execute);
      const { output } = await until(second, run.id, "completed");
      await second.close();
      return { starts, output };
    }

    test("a once step is not repeated but rejects with interrupted", async () => {
      expect(await interrupt("once")).toEqual({ starts: 1, output: "interrupted" });
    });

    test("a pure or idempotent step is run again", async () => {
      expect(await interrupt("pure")).toEqual({ starts: 2, output: "acted" });
      expect(await interrupt("idempotent")).toEqual({ starts: 2, output: "acted" });
    });

    test("a once step that finished is recorded like any other", async () => {
      let starts = 0;
      const engine = cases.working(async (run) => {
        const value = await run.step("act", async () => ++starts, { effect: "once" });
        await run.signal("go");
        return value;
      });
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "go", null);
      expect((await until(engine, run.id, "completed")).output).toBe(1);
    });
  });
}
