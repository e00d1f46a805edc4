import { describe, expect, test } from "bun:test";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { ListFilter } from "../../core/runs/engine.ts";
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

    test("runs that failed are told apart by the code of their error", async () => {
      const engine = cases.working(async (_, code) => {
        throw new AppError(code as ErrorCode, 'It says {"code":"rejected"} and \u0000.');
      });
      const failed = await start(engine, { input: "task_failed" });
      const rejected = await start(engine, { input: "rejected" });
      for (const { id } of [failed, rejected]) await until(engine, id, "failed");
      const ids = async (errorCode: ErrorCode) => {
        const { runs, total } = await engine.list({ limit: 10, errorCode });
        expect(total).toBe(runs.length);
        return runs.map(({ id }) => id);
      };
      expect(await ids("rejected")).toEqual([rejected.id]);
      expect(await ids("task_failed")).toEqual([failed.id]);
      expect(await ids("task%failed" as ErrorCode)).toEqual([]);
    });

    test("a count goes no further than asked", async () => {
      const engine = cases.open();
      for (let n = 0; n < 5; n++) await start(engine, { input: n });
      expect((await engine.list({ limit: 2, countAtMost: 3 })).total).toBe(3);
      expect((await engine.list({ limit: 2, countAtMost: 9 })).total).toBe(5);
    });

    test("words are found in what a run and those it asked for say, never in the keys of events", async () => {
      const engine = cases.open();
      const say = (messageId: string, text: string, principal = "ann") =>
        engine.start({
          ...request,
          principal,
          dedupe: { key: JSON.stringify(["kind", principal, messageId]), hash: "" },
          events: [{ type: "message-received", messageId, parts: [{ type: "text", text }] }],
        });
      const { run: asker } = await say("of a caller", 'Ship 100% of "it_all"\nto Oslo');
      const { run: asked } = await say(`${asker.id}/3`, "Weigh the PARCEL");
      await say(`${asker.id}/4`, "another's secret", "bob");
      const found = async (...words: string[]) => (await engine.search([asker.id], words)).get(asker.id)?.runId;
      expect(await found("oslo", "ship")).toBe(asker.id);
      expect(await found('100% of "it_all"\nto')).toBe(asker.id);
      expect(await found("parcel")).toBe(asked.id);
      for (const words of [["type"], ["messageId"], ["ship", "parcel"], ["1009 of"], ["itXall"], ["secret"]])
        expect((await engine.search([asker.id], words)).size).toBe(0);
      expect((await engine.search(["none"], ["oslo"])).size).toBe(0);
    });

    test("a list of those that say some words has no other that has ended, nor a deleted one, but the one that asked for such", async () => {
      const engine = cases.open();
      const say = (messageId: string, text: string, canceled = true) =>
        engine.start({
          ...{ ...request, canceled },
          dedupe: { key: JSON.stringify(["kind", "ann", messageId]), hash: "" },
          events: [{ type: "message-received", messageId, parts: [{ type: "text", text }] }],
        });
      const { run: asker } = await say("of a caller", "Ship it to Oslo");
      const { run: asked } = await say(`${asker.id}/3`, "Weigh the PARCEL");
      const { run: chinese } = await say("second", "销售数据的分析");
      const { run: other } = await say("third", "nothing of it");
      const { run: open } = await say("fourth", "not yet", false);
      // Whoever sends a message under the id of another's run is not asked by it.
      const foreign = { key: JSON.stringify(["kind", "bob", `${other.id}/1`]), hash: "" };
      const parts = [{ type: "text", text: "Weigh the parcel" }];
      const events = [{ type: "message-received", messageId: `${other.id}/1`, parts }];
      await engine.start({ ...request, principal: "bob", canceled: true, dedupe: foreign, events });
      const idsOf = async (...words: string[]) =>
        (await engine.list({ principal: "ann", words, limit: 10 })).runs.map(({ id }) => id).toSorted();
      const all = [asker, asked, chinese, other, open].map(({ id }) => id).toSorted();
      expect(await idsOf("parcel")).toEqual(all);
      while ((await engine.indexWords()) > 0);
      const with_ = (...runs: { id: string }[]) => [...runs, open].map(({ id }) => id).toSorted();
      expect(await idsOf("arce", "WEIGH")).toEqual(with_(asker, asked));
      expect(await idsOf("数据")).toEqual(with_(chinese));
      expect(await idsOf("据数")).toEqual(with_());
      expect(await idsOf("parcel", "nowhere")).toEqual(with_());
      expect(await idsOf("it")).toEqual(all);
      await engine.delete({ runIds: [asker.id], thorough: true });
      expect(await idsOf("parcel")).toEqual(with_());
      await engine.cancel(open.id);
      expect(await engine.indexWords()).toBe(1);
      expect(await idsOf("parcel")).toEqual([]);
      expect(await idsOf("yet")).toEqual([open.id]);
    });

    test("a run is found by its last words, however much it said before", async () => {
      const engine = cases.open();
      const said = [...Array.from({ length: 300 }, (_, n) => `number ${n}`), "and on to Oslo"];
      const events = said.map((text, n) => ({
        type: "message-received",
        messageId: `${n}`,
        parts: [{ type: "text", text }],
      }));
      const { run } = await engine.start({ ...request, events, canceled: true });
      while ((await engine.indexWords()) > 0);
      const { runs } = await engine.list({ principal: "ann", words: ["oslo"], limit: 10 });
      expect(runs.map(({ id }) => id)).toEqual([run.id]);
    });

    test("several runs are searched at once, each to its first event that says the words, whether indexed or not", async () => {
      const engine = cases.open();
      const say = async (texts: readonly string[], messageId: string, canceled = true) => {
        const events = texts.map((text) => ({ type: "message-received", messageId, parts: [{ type: "text", text }] }));
        const dedupe = { key: JSON.stringify(["kind", "ann", messageId]), hash: "" };
        return (await engine.start({ ...request, canceled, dedupe, events })).run.id;
      };
      const much = Array.from({ length: 150 }, (_, n) => `a message of type ${n}`);
      const short = await say(["nothing", "To Oslo", "oslo again"], "short");
      const long = await say([...much, "type: oslo"], "long");
      const without = await say(much, "without");
      const asked = await say(["from Oslo"], `${without}/1`);
      const open = await say(["oslo later"], "open", false);
      // Its events have the word in their ids alone, and there are many.
      const named = await say(Array(20).fill("nothing"), "oslo");
      const later = await say(["by way of Oslo"], `${named}/1`);
      const ids = [short, long, without, open, named, "none"];
      const places = async (...words: string[]) =>
        new Map([...(await engine.search(ids, words))].map(([id, { runId, seq }]) => [id, `${runId} ${seq}`]));
      const said = new Map([
        [short, `${short} 2`],
        [long, `${long} 151`],
        [without, `${asked} 1`],
        [open, `${open} 1`],
        [named, `${later} 1`],
      ]);
      expect(await places("oslo")).toEqual(said);
      while ((await engine.indexWords()) > 0);
      expect(await places("oslo")).toEqual(said);
      // Every event has these words, most of them as a key only.
      expect(await places("type")).toEqual(
        new Map([
          [long, `${long} 1`],
          [without, `${without} 1`],
        ]),
      );
      expect(await places("type:")).toEqual(new Map([[long, `${long} 151`]]));
      expect((await engine.search([], ["oslo"])).size).toBe(0);
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
