import { describe, expect, test } from "bun:test";
import type { Engine } from "../../core/runs/engine.ts";
import { body, type Cases, codeOf, start, until } from "./cases.ts";

/** Runs that wait for the events of other runs. */
export function watchingCases(cases: Cases): void {
  describe("watching", () => {
    /** A run that waits for the next event of another, and how often its body was executed. */
    async function watch(runId: string, after: number) {
      const engine = cases.open();
      const executed: string[] = [];
      engine.work([
        {
          kind: "watching",
          async execute(run) {
            executed.push(run.id);
            const asked = { after, watcher: run.id, signal: "events" };
            await run.step("watch", () => engine.watch(runId, asked).then(() => null));
            return run.signal("events");
          },
        },
      ]);
      return { engine, executed, watcher: await start(engine, { kind: "watching" }) };
    }

    const appended: Readonly<Record<string, (engine: Engine, runId: string) => Promise<unknown>>> = {
      "a message": (engine, id) => engine.deliver(id, "s", 1, { events: [{ type: "told" }] }),
      "a step": async (engine) =>
        engine.work([
          body(async (run) => {
            await run.step("say", async (step) => void step.emit({ type: "said" }));
            return run.signal("never");
          }),
        ]),
      "its end": (engine, id) => engine.cancel(id),
    };
    for (const [what, append] of Object.entries(appended)) {
      test(`a run waits for another's next event without a body, and continues when ${what} brings one`, async () => {
        const elsewhere = cases.open();
        const watched = await start(elsewhere, { events: [{ type: "begun" }] });
        const { engine, executed, watcher } = await watch(watched.id, 1);
        const another = await start(engine, { kind: "watching" });
        await until(engine, another.id, "waiting");
        expect((await until(engine, watcher.id, "waiting")).waiting).toEqual({ signal: "events" });
        expect((await engine.get(watcher.id))?.lastEvent).toBe(0);
        await append(elsewhere, watched.id);
        expect((await until(engine, watcher.id, "completed")).output).toBeNull();
        await until(engine, another.id, "completed");
        expect(executed.toSorted()).toEqual([watcher.id, watcher.id, another.id, another.id].toSorted());
      });
    }

    test("events that are there already, and an end that was the last, are signaled at once", async () => {
      const elsewhere = cases.open();
      const watched = await start(elsewhere, { events: [{ type: "begun" }] });
      const early = await watch(watched.id, 0);
      await until(early.engine, early.watcher.id, "completed");
      await elsewhere.cancel(watched.id);
      const late = await watch(watched.id, 2);
      await until(late.engine, late.watcher.id, "completed");
      late.engine.work([{ kind: "parked", execute: (run) => run.signal("events") }]);
      const { id: parked } = await start(elsewhere, { kind: "parked" });
      await until(elsewhere, parked, "waiting");
      await elsewhere.watch(watched.id, { after: 0, watcher: parked, signal: "events" });
      await until(elsewhere, parked, "completed");
    });

    test("the same request is one signal, before the event and after it", async () => {
      const engine = cases.open();
      const [watched, watcher] = [await start(engine), await start(engine, { kind: "later" })];
      const asked = { after: 0, watcher: watcher.id, signal: "events" };
      for (let n = 0; n < 2; n++) await engine.watch(watched.id, asked);
      for (const id of ["1", "2"]) await engine.deliver(watched.id, "s", 1, { id, events: [{ type: "told" }] });
      await engine.watch(watched.id, asked);
      engine.work([{ kind: "later", execute: async (run) => (await run.poll("events")).length }]);
      expect((await until(engine, watcher.id, "completed")).output).toBe(1);
    });

    test("a watcher that has ended changes nothing, and runs that are unknown are not_found", async () => {
      const engine = cases.open();
      const [watched, watcher] = [await start(engine), await start(engine)];
      await engine.watch(watched.id, { after: 0, watcher: watcher.id, signal: "s" });
      await engine.cancel(watcher.id);
      await engine.deliver(watched.id, "s", 1, { events: [{ type: "told" }] });
      expect(await engine.get(watcher.id)).toMatchObject({ status: "canceled", lastEvent: 1 });
      for (const [id, other] of [
        ["none", watcher.id],
        [watched.id, "none"],
      ] as const)
        expect(await codeOf(engine.watch(id, { after: 9, watcher: other, signal: "s" }))).toBe("not_found");
    });

    test("a reader of all changes hears that a run is started, told something and ended, here and elsewhere", async () => {
      const [here, elsewhere] = [cases.open(), cases.open()];
      const stop = new AbortController();
      const changes = here.changes(stop.signal)[Symbol.asyncIterator]();
      const seen = async (isSeen: () => Promise<boolean>) => {
        while (!(await isSeen())) if ((await changes.next()).done === true) throw new Error("It ended.");
      };
      for (const engine of [here, elsewhere]) {
        const next = changes.next();
        const run = await start(engine);
        await next;
        await seen(async () => (await here.get(run.id)) !== undefined);
        for (const act of [
          () => engine.deliver(run.id, "s", 1, { events: [{ type: "told" }] }),
          () => engine.cancel(run.id),
        ]) {
          const before = (await here.get(run.id))?.lastEvent ?? 0;
          const news = seen(async () => ((await here.get(run.id))?.lastEvent ?? 0) > before);
          await act();
          await news;
        }
      }
      stop.abort();
      for (let next = await changes.next(); next.done !== true; ) next = await changes.next();
    });
  });
}
