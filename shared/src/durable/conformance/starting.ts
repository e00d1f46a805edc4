import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import type { Run } from "../../core/runs/run.ts";
import { type Cases, codeOf, collect, request, start, until, withinMs } from "./cases.ts";

/** How runs are accepted and find a worker. */
export function startingCases(cases: Cases): void {
  describe("starting", () => {
    test("the same key and hash finds the same run, during it and after its end; another hash is a conflict", async () => {
      const engine = cases.working(async () => 1);
      const keyed = { ...request, dedupe: { key: "k", hash: "h" } };
      const both = await Promise.all([engine.start(keyed), engine.start(keyed)]);
      expect(both.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(both.map((answer) => answer.run.id)).size).toBe(1);
      const id = both[0].run.id;
      await until(engine, id, "completed");
      expect(await engine.start(keyed)).toMatchObject({ created: false, run: { id, status: "completed" } });
      expect(await codeOf(engine.start({ ...keyed, dedupe: { key: "k", hash: "other" } }))).toBe("conflict");
      expect((await engine.byKey(request.principal, "k"))?.id).toBe(id);
      expect(await engine.byKey("bob", "k")).toBeUndefined();
      expect((await engine.start({ ...keyed, principal: "bob" })).created).toBe(true);
    });

    test("a run accepted without a hash is found by its key, whatever the hash", async () => {
      const engine = cases.open();
      const { run } = await engine.start({ ...request, dedupe: { key: "k" } });
      for (const dedupe of [{ key: "k" }, { key: "k", hash: "h" }])
        expect(await engine.start({ ...request, dedupe })).toMatchObject({ created: false, run: { id: run.id } });
    });

    test("a run accepted longer ago than the window is not found: a new one takes its key, and the old one goes on", async () => {
      const engine = cases.working(async (run) => (await run.signal("go")) as Json);
      const keyed = (withinMs: number) => ({ ...request, dedupe: { key: "k", hash: "h", withinMs } });
      const first = await engine.start(keyed(60_000));
      expect(await engine.start(keyed(60_000))).toMatchObject({ created: false, run: { id: first.run.id } });
      await Bun.sleep(20);
      const second = await engine.start(keyed(10));
      expect(second.created).toBe(true);
      expect(await engine.start(keyed(60_000))).toMatchObject({ created: false, run: { id: second.run.id } });
      expect(await engine.start({ ...request, dedupe: { key: "k" } })).toMatchObject({ run: { id: second.run.id } });
      const never = await Promise.all([engine.start(keyed(0)), engine.start(keyed(0))]);
      expect(never.map(({ created }) => created)).toEqual([true, true]);
      await engine.deliver(first.run.id, "go", "on");
      expect((await until(engine, first.run.id, "completed")).output).toBe("on");
    });

    test("with a key per context, another hash is refused in the run's own context and starts a run in any other", async () => {
      const engine = cases.open();
      const keyed = (contextId: string, hash: string) =>
        engine.start({ ...request, contextId, dedupe: { key: "k", hash, perContext: true } });
      const first = await keyed("c1", "one");
      expect(await codeOf(keyed("c1", "two"))).toBe("conflict");
      expect(await keyed("c2", "one")).toMatchObject({ created: false, run: { id: first.run.id } });
      const second = await keyed("c2", "two");
      expect(second).toMatchObject({ created: true, run: { contextId: "c2" } });
      expect(await keyed("c3", "two")).toMatchObject({ created: false, run: { id: second.run.id } });
    });

    test("a chosen id is used, and refused when it is taken", async () => {
      const engine = cases.open();
      expect((await engine.start({ ...request, id: "mine" })).run.id).toBe("mine");
      expect(await codeOf(engine.start({ ...request, id: "mine" }))).toBe("conflict");
    });

    test("a request that is refused, or finds its run, takes no place from the next", async () => {
      const engine = cases.working(async () => "ran", { concurrency: 1 });
      const keyed = (hash: string) => engine.start({ ...request, dedupe: { key: "k", hash } });
      const { run } = await keyed("one");
      await until(engine, run.id, "completed");
      expect((await keyed("one")).created).toBe(false);
      expect(await codeOf(keyed("two"))).toBe("conflict");
      expect((await until(engine, (await start(engine)).id, "completed")).output).toBe("ran");
    });

    test("runs of a kind nobody here works on stay queued", async () => {
      const engine = cases.working(async () => 1);
      const other = await start(engine, { kind: "other" });
      await until(engine, (await start(engine)).id, "completed");
      expect((await engine.get(other.id))?.status).toBe("queued");
    });

    test("no more bodies than the concurrency allows run at once, and all of them run", async () => {
      let now = 0;
      let most = 0;
      const engine = cases.working(
        async (run) =>
          run.step("count", async () => {
            most = Math.max(most, ++now);
            // Leaves the others time to begin, also those that should not.
            const deadline = performance.now() + withinMs;
            while (most < 3 && performance.now() < deadline) await Bun.sleep(1);
            await Bun.sleep(5);
            now--;
            return null;
          }),
        { concurrency: 3 },
      );
      const runs = await Promise.all(Array.from({ length: 12 }, () => start(engine)));
      for (const run of runs) await until(engine, run.id, "completed");
      expect(most).toBe(3);
    });

    test("runs that wait for room start in the order in which they arrived", async () => {
      const begun: Json[] = [];
      const first = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const note = (run: Run, input: Json) =>
        run.step("note", async () => {
          begun.push(input);
          first.resolve();
          if (input === "first") await gate.promise;
          return null;
        });
      const engine = cases.working(note, { concurrency: 1 });
      const runs = [await start(engine, { input: "first" })];
      await first.promise;
      for (let n = 0; n < 6; n++) {
        runs.push(await start(engine, { input: n }));
        // Runs accepted in the same millisecond have no order.
        await Bun.sleep(2);
      }
      await cases.asked(runs.length);
      gate.resolve();
      for (const { id } of runs) await until(engine, id, "completed");
      expect(begun).toEqual(["first", 0, 1, 2, 3, 4, 5]);
    });

    test("unknown runs are undefined to get and not_found to everything else", async () => {
      const engine = cases.open();
      expect(await engine.get("none")).toBeUndefined();
      expect(await codeOf(engine.deliver("none", "s", 1))).toBe("not_found");
      expect(await codeOf(engine.cancel("none"))).toBe("not_found");
      expect(await codeOf(engine.resume("none"))).toBe("not_found");
      expect(await codeOf(engine.events("none"))).toBe("not_found");
      expect(await codeOf(collect(engine, "none"))).toBe("not_found");
    });
  });
}
