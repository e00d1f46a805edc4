import { describe, expect, test } from "bun:test";
import { type Cases, start, until, withinMs } from "./cases.ts";

/** How a run waits for a signal, and what observers see of it. */
export function waitingCases(cases: Cases): void {
  describe("waiting", () => {
    test("a waiting run shows what it waits for and why, and continues when the signal arrives", async () => {
      const engine = cases.working(async (run) =>
        run.signal("answer", { reason: "input-required", events: [{ type: "question-asked" }] }),
      );
      const run = await start(engine);
      const waiting = await until(engine, run.id, "waiting");
      expect(waiting.waiting).toEqual({ signal: "answer", reason: "input-required" });
      expect((await engine.events(run.id)).map((stored) => stored.event.type)).toEqual(["question-asked"]);
      await engine.deliver(run.id, "other", 0);
      await engine.deliver(run.id, "answer", 0, { events: [{ type: "message-received" }] });
      const ended = await until(engine, run.id, "completed");
      expect(ended.output).toBe(0);
      expect(ended.waiting).toBeUndefined();
      expect((await engine.events(run.id)).map((stored) => stored.event.type)).toEqual([
        "question-asked",
        "message-received",
        "run-ended",
      ]);
    });

    test("of several waits the run shows the first that has a reason, and any of them continues it", async () => {
      const engine = cases.working(async (run) =>
        run.race([
          (own) => own.signal("go"),
          (own) => own.signal("answer", { reason: "input-required" }),
          (own) => own.signal("later", { reason: "auth-required" }),
        ]),
      );
      const run = await start(engine);
      expect((await until(engine, run.id, "waiting")).waiting).toEqual({ signal: "answer", reason: "input-required" });
      await engine.deliver(run.id, "later", "came");
      expect((await until(engine, run.id, "completed")).output).toBe("came");
    });

    test("the event of a wait and the waiting status are committed together", async () => {
      const engine = cases.working(async (run) =>
        run.signal("answer", { reason: "r", events: [{ type: "question-asked" }] }),
      );
      const run = await start(engine);
      for await (const item of engine.follow(run.id, { signal: AbortSignal.timeout(withinMs) })) {
        if (item.event.type === "question-asked") break;
      }
      expect((await engine.get(run.id))?.status).toBe("waiting");
    });
  });
}
