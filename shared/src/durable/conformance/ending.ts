import { describe, expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { body, type Cases, request, start, until } from "./cases.ts";

/** How runs end, and what their log says. */
export function endingCases(cases: Cases): void {
  describe("ending", () => {
    test("a run goes from queued to completed with the body's value as output", async () => {
      const engine = cases.open();
      const { run, created } = await engine.start({ ...request, input: { a: 0, b: "" } });
      expect(created).toBe(true);
      expect(run).toMatchObject({ status: "queued", kind: "test", principal: "ann", contextId: "c1", lastEvent: 0 });
      const nothing = await start(engine, { input: "nothing" });
      engine.work([body(async (_, input) => (input === "nothing" ? (undefined as never) : { got: input }))]);
      const ended = await until(engine, run.id, "completed");
      expect(ended.output).toEqual({ got: { a: 0, b: "" } });
      expect((await until(engine, nothing.id, "completed")).output).toBeNull();
      expect(ended.updatedAt).toBeGreaterThanOrEqual(ended.createdAt);
    });

    test("an AppError of the body fails the run with its code, anything else with internal and no text", async () => {
      const engine = cases.working(async (_, input) => {
        if (input === 1) throw new AppError("stuck", "no way on");
        throw new Error("secret");
      });
      const expected = await start(engine, { input: 1 });
      const bug = await start(engine, { input: 2 });
      expect((await until(engine, expected.id, "failed")).error).toEqual({ code: "stuck", message: "no way on" });
      const failed = await until(engine, bug.id, "failed");
      expect(failed.error?.code).toBe("internal");
      expect(failed.error?.message).not.toContain("secret");
    });

    test("the last event reports the end, in one log with the events of the start and of the body", async () => {
      const engine = cases.working(async (run) => {
        run.emit({ type: "note-made", n: 1 });
        await run.step("a", async (step) => {
          step.emit({ type: "note-made", n: 2 });
          return null;
        });
        run.emit({ type: "note-made", n: 3 });
        throw new AppError("stuck", "no way on");
      });
      const run = await start(engine, { events: [{ type: "message-received" }] });
      expect(run.lastEvent).toBe(1);
      const ended = await until(engine, run.id, "failed");
      const events = await engine.events(run.id);
      expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5]);
      expect(events.map((stored) => stored.event)).toEqual([
        { type: "message-received" },
        { type: "note-made", n: 1 },
        { type: "note-made", n: 2 },
        { type: "note-made", n: 3 },
        { type: "run-ended", status: "failed", error: { code: "stuck", message: "no way on" } },
      ]);
      expect(ended.lastEvent).toBe(5);
      expect((await engine.events(run.id, 3)).map((event) => event.seq)).toEqual([4, 5]);
      expect((await engine.events(run.id, 1, 3)).map((event) => event.seq)).toEqual([2, 3]);
      expect(await engine.events(run.id, 3, 2)).toEqual([]);
    });
  });
}
