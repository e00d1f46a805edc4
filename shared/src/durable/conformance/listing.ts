import { describe, expect, test } from "bun:test";
import type { ListFilter } from "../../core/engine.ts";
import { type Cases, codeOf, request, start, until } from "./cases.ts";

/** Lists of runs. */
export function listingCases(cases: Cases): void {
  describe("listing", () => {
    test("pages go through all runs, newest change first, without gap or repeat", async () => {
      const engine = cases.open();
      for (let n = 0; n < 7; n++) await start(engine, { input: n });
      const seen: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await engine.list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
        expect(page.total).toBe(7);
        seen.push(...page.runs.map((run) => Number(run.input)));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
      expect(await codeOf(engine.list({ limit: 3, cursor: "nonsense" }))).toBe("invalid_input");
    });

    test("every filter narrows the list, and so do all of them together", async () => {
      const engine = cases.working(async (run) => run.signal("go", { reason: "input-required" }));
      const waiting = await start(engine);
      await until(engine, waiting.id, "waiting");
      await engine.start({ ...request, kind: "other", principal: "bob", contextId: "c2" });
      const ids = async (filter: Omit<ListFilter, "limit">) => {
        const { runs, total } = await engine.list({ limit: 10, ...filter });
        expect(total).toBe(runs.length);
        return runs.map((run) => (run.id === waiting.id ? "waiting" : "queued"));
      };
      expect(await ids({})).toEqual(["queued", "waiting"]);
      expect(await ids({ principal: "ann" })).toEqual(["waiting"]);
      expect(await ids({ kind: "other" })).toEqual(["queued"]);
      expect(await ids({ kinds: ["other", "none"] })).toEqual(["queued"]);
      expect(await ids({ kinds: [] })).toEqual([]);
      expect(await ids({ contextId: "c2" })).toEqual(["queued"]);
      expect(await ids({ statuses: ["waiting", "paused"] })).toEqual(["waiting"]);
      expect(await ids({ statuses: [] })).toEqual([]);
      expect(await ids({ waitingReason: "input-required" })).toEqual(["waiting"]);
      expect(await ids({ updatedSince: Date.now() + 1000 })).toEqual([]);
      expect(await ids({ principal: "ann", kind: "test", contextId: "c1", statuses: ["waiting"] })).toEqual([
        "waiting",
      ]);
      expect(await ids({ principal: "ann", kind: "other" })).toEqual([]);
    });

    test("runs that another run asked for can be left out, from the count and from every page", async () => {
      const engine = cases.open();
      const under = (messageId: string) =>
        engine.start({ ...request, dedupe: { key: JSON.stringify(["kind", "ann", messageId]), hash: "" } });
      const { run: asker } = await under("of a caller");
      const { run: asked } = await under(`${asker.id}/3`);
      const { run: ofStranger } = await under(`${crypto.randomUUID()}/3`);
      const { run: otherwise } = await engine.start({ ...request, dedupe: { key: `recall ${asker.id}`, hash: "" } });
      const without = await start(engine);
      const first = await engine.list({ asked: false, limit: 2 });
      const second = await engine.list({ asked: false, limit: 2, cursor: first.nextCursor ?? "" });
      expect([first.total, second.nextCursor]).toEqual([4, undefined]);
      const listed = [...first.runs, ...second.runs].map(({ id }) => id);
      expect(listed).toEqual([without, otherwise, ofStranger, asker].map(({ id }) => id));
      expect((await engine.list({ limit: 9 })).runs.map(({ id }) => id)).toContain(asked.id);
    });
  });
}
