import { describe, expect, test } from "bun:test";
import { isShutdown } from "../../core/runs/shutdown.ts";
import { body, type Cases, codeOf, start, until } from "./cases.ts";

/** Closing an engine with work in flight. */
export function drainingCases(cases: Cases): void {
  describe("draining", () => {
    test("a step that ends within the grace period is kept, and the next one starts elsewhere at once", async () => {
      const ran: string[] = [];
      const begun = Promise.withResolvers<void>();
      const execute =
        (who: string): Parameters<Cases["working"]>[0] =>
        async (run) => {
          for (const name of ["a", "b"]) {
            await run.step(name, async () => {
              ran.push(`${who} ${name}`);
              begun.resolve();
              await Bun.sleep(20);
              return null;
            });
          }
          return "done";
        };
      const first = cases.working(execute("first"));
      const second = cases.open();
      const run = await start(first);
      await begun.promise;
      second.work([body(execute("second"))]);
      const closed = performance.now();
      await first.close({ graceMs: 5000 });
      expect((await until(second, run.id, "completed")).output).toBe("done");
      expect(performance.now() - closed).toBeLessThan(2000);
      expect(ran).toEqual(["first a", "second b"]);
    });

    test("a step that does not end within the grace period is aborted and its run handed back", async () => {
      const begun = Promise.withResolvers<void>();
      let reason: unknown;
      const first = cases.working(async (run) =>
        run.step("work", async ({ signal }) => {
          begun.resolve();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          reason = signal.reason;
          return "half";
        }),
      );
      const run = await start(first);
      await begun.promise;
      await first.close({ graceMs: 10 });
      expect(isShutdown(reason)).toBe(true);
      const second = cases.open();
      expect((await second.get(run.id))?.status).toBe("queued");
      second.work([body(async (own) => own.step("work", async () => "whole"))]);
      expect((await until(second, run.id, "completed")).output).toBe("whole");
    });

    test("a closed engine accepts nothing more and its followers end", async () => {
      const engine = cases.working(async (run) => run.signal("go"));
      const run = await start(engine);
      await until(engine, run.id, "waiting");
      const following = (async () => {
        for await (const item of engine.follow(run.id, { signal: new AbortController().signal })) return item;
        return "ended";
      })();
      await Bun.sleep(0);
      await engine.close();
      expect(await following).toBe("ended");
      expect(await codeOf(start(engine))).toBe("unavailable");
      expect(await codeOf(engine.get(run.id))).toBe("unavailable");
    });
  });
}
