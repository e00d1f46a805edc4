import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../core/runs/engine.ts";
import { type Cases, codeOf, collect, request, start, until, withinMs } from "./cases.ts";

const hashOf = (letter: string) => letter.repeat(64);
const withFile = (letter: string) => ({
  type: "artifact-added",
  artifactId: letter,
  name: letter,
  parts: [{ type: "file", sha256: hashOf(letter), name: "f", mediaType: "text/plain", size: 1 }],
});
const under = (messageId: string) => ({ key: JSON.stringify(["kind", "ann", messageId]), hash: "" });
const ever = { endedBy: Number.MAX_SAFE_INTEGER, acceptedBy: Number.MAX_SAFE_INTEGER, limit: 100 };

/** Ends a run that no worker has taken. */
async function ended(engine: Engine, over: object = {}): Promise<string> {
  const { run } = await engine.start({ ...request, ...over, canceled: true });
  return run.id;
}

/** Deletions, and copies of the store. */
export function deletingCases(cases: Cases): void {
  describe("deleting", () => {
    test("a deleted run is gone with its events, in every engine of the store; its key is free", async () => {
      const engine = cases.working(async (run) => {
        await run.step("s", async (step) => {
          step.emit(withFile("a"));
          return "kept";
        });
        return null;
      });
      const dedupe = { key: "k", hash: "h" };
      const { run } = await engine.start({ ...request, dedupe });
      await until(engine, run.id, "completed");
      expect(await engine.hasFile("ann", hashOf("a"))).toBe(true);
      const deletion = await engine.delete({ runIds: [run.id] });
      expect(deletion).toMatchObject({
        runs: [run.id],
        files: [hashOf("a")],
        emptied: [{ kind: "test", principal: "ann", contextId: "c1" }],
      });
      const other = cases.open();
      for (const each of [engine, other]) {
        expect(await each.get(run.id)).toBeUndefined();
        expect(await codeOf(each.events(run.id))).toBe("not_found");
        expect(await codeOf(collect(each, run.id))).toBe("not_found");
        expect(await each.hasFile("ann", hashOf("a"))).toBe(false);
        expect((await each.list({ limit: 9 })).total).toBe(0);
      }
      expect((await engine.start({ ...request, dedupe })).created).toBe(true);
      expect(await codeOf(engine.delete({ runIds: [run.id] }))).toBe("not_found");
    });

    test("whoever follows all runs hears that one was deleted", async () => {
      const engine = cases.open();
      const id = await ended(engine);
      const stop = AbortSignal.timeout(withinMs);
      const changes = engine.changes(stop)[Symbol.asyncIterator]();
      let heard = changes.next();
      // What was told before it began to listen is not what it hears.
      while (await Promise.race([heard.then(() => true), Bun.sleep(300).then(() => false)])) heard = changes.next();
      await engine.delete({ runIds: [id] });
      expect(await heard).toEqual({ done: false, value: undefined });
    });

    test("an unfinished run, or another principal's, is not deleted, and neither is what is named with it", async () => {
      const engine = cases.working((run) => run.signal("go", {}));
      const waiting = await start(engine);
      await until(engine, waiting.id, "waiting");
      const over = await ended(engine);
      expect(await codeOf(engine.delete({ runIds: [over, waiting.id] }))).toBe("conflict");
      expect(await codeOf(engine.delete({ runIds: [over], principal: "bob" }))).toBe("not_found");
      const { updatedAt = 0 } = (await engine.get(over)) ?? {};
      expect(await codeOf(engine.delete({ runIds: [over], endedBy: updatedAt - 1 }))).toBe("conflict");
      expect([(await engine.get(over))?.status, (await engine.get(waiting.id))?.status]).toEqual([
        "canceled",
        "waiting",
      ]);
      const exactly = await ended(engine);
      const { updatedAt: endedBy = 0 } = (await engine.get(exactly)) ?? {};
      expect((await engine.delete({ runIds: [exactly], endedBy })).runs).toEqual([exactly]);
      await engine.deliver(waiting.id, "go", null);
      await until(engine, waiting.id, "completed");
      await engine.delete({ runIds: [over, waiting.id], endedBy: Date.now() + withinMs });
      expect((await engine.list({ limit: 9 })).total).toBe(0);
    });

    test("what a run asked for is deleted with it, once all of it has ended", async () => {
      const engine = cases.working((run) => run.signal("go", {}));
      const asker = await ended(engine);
      const { run: asked } = await engine.start({ ...request, contextId: "c2", dedupe: under(`${asker}/1`) });
      const below = await ended(engine, { contextId: "c3", dedupe: under(`${asked.id}/2`) });
      const ofStranger = await ended(engine, { principal: "bob", dedupe: under(`${asker}/1`) });
      await until(engine, asked.id, "waiting");
      const refused = (runIds: string[]) => engine.delete({ runIds }).catch(({ message }) => message);
      expect(await codeOf(engine.delete({ runIds: [asker] }))).toBe("conflict");
      expect([await refused([asker]), await refused([asked.id])]).toEqual([
        `The run ${asked.id}, which it asked for, has not ended. Cancel it first.`,
        `The run ${asked.id} has not ended. Cancel it first.`,
      ]);
      expect((await engine.list({ limit: 9 })).total).toBe(4);
      await engine.cancel(asked.id);
      const records = await Promise.all([asker, asked.id, below].map((id) => engine.get(id)));
      const { runs, emptied, endedAt } = await engine.delete({ runIds: [asker] });
      expect(endedAt).toBe(Math.max(...records.map((run) => run?.updatedAt ?? 0)));
      expect(runs.toSorted()).toEqual([asker, asked.id, below].toSorted());
      expect(emptied.map(({ contextId }) => contextId).toSorted()).toEqual(["c1", "c2", "c3"]);
      expect((await engine.list({ limit: 9 })).runs.map(({ id }) => id)).toEqual([ofStranger]);
    });

    test("a conversation is emptied by its last run, and not if that is refused", async () => {
      const engine = cases.open();
      const [one, two] = [await ended(engine), await ended(engine)];
      await ended(engine, { kind: "other" });
      const told: unknown[] = [];
      const emptied = (conversations: readonly unknown[]) => void told.push(...conversations);
      expect((await engine.delete({ runIds: [one], emptied })).emptied).toEqual([]);
      const refuse = () => {
        throw new Error("no");
      };
      await expect(engine.delete({ runIds: [two], emptied: refuse })).rejects.toThrow("no");
      expect((await engine.get(two))?.status).toBe("canceled");
      await engine.delete({ runIds: [two], emptied });
      expect(told).toEqual([{ kind: "test", principal: "ann", contextId: "c1" }]);
      // Of each kind and each principal, where several are emptied at once.
      const others = [await ended(engine), await ended(engine, { principal: "bob" })];
      const [kept] = (await engine.list({ kind: "other", limit: 1 })).runs;
      const at = (await engine.delete({ runIds: [...others, kept?.id ?? ""] })).emptied;
      expect(at.map(({ kind, principal }) => `${kind} of ${principal}`).toSorted()).toEqual([
        ...["other of ann", "test of ann", "test of bob"],
      ]);
    });

    test("a file is free once no run refers to it, and its principal's as long as one of its runs does", async () => {
      const engine = cases.working(async (run) => {
        await run.step("kept", async () => ({ kept: hashOf("c") }));
        return run.signal("go", {});
      });
      const first = await ended(engine, { events: [withFile("a"), withFile("b")] });
      const second = await ended(engine, { events: [withFile("b")] });
      const ofBob = await ended(engine, { principal: "bob", events: [withFile("b")] });
      const waiting = await start(engine);
      await until(engine, waiting.id, "waiting");
      await engine.deliver(waiting.id, "later", { sent: hashOf("e") });
      const all = ["a", "b", "c", "d", "e"].map(hashOf);
      expect([...(await engine.filesInUse(all))].toSorted()).toEqual(["a", "b", "c", "e"].map(hashOf));
      expect((await engine.delete({ runIds: [first] })).files).toEqual([hashOf("a")]);
      expect(await engine.hasFile("ann", hashOf("b"))).toBe(true);
      expect((await engine.delete({ runIds: [second] })).files).toEqual([]);
      expect([await engine.hasFile("ann", hashOf("b")), await engine.hasFile("bob", hashOf("b"))]).toEqual([
        false,
        true,
      ]);
      expect((await engine.delete({ runIds: [ofBob] })).files).toEqual([hashOf("b")]);
      expect([...(await engine.filesInUse(all))].toSorted()).toEqual(["c", "e"].map(hashOf));
      await engine.cancel(waiting.id);
      expect((await engine.filesInUse(all)).size).toBe(0);
    });

    test("runs expire in the order in which they ended, except those that something unfinished may need", async () => {
      const engine = cases.working((run) => run.signal("go", {}));
      const ids = [await ended(engine, { contextId: "x" }), await ended(engine, { contextId: "y" })];
      const asked = await ended(engine, { contextId: "x", dedupe: under(`${ids[0]}/1`) });
      await ended(engine, { contextId: "open" });
      const told = await ended(engine, { contextId: "told" });
      const waiting = await start(engine, {});
      const open = (await engine.start({ ...request, contextId: "open" })).run;
      const telling = (await engine.start({ ...request, contextId: told })).run;
      // Another principal's conversation of the same name keeps nothing.
      const strange = (await engine.start({ ...request, principal: "bob", contextId: "x" })).run;
      for (const { id } of [waiting, open, telling, strange]) await until(engine, id, "waiting");
      const first = await engine.expired({ ...ever, limit: 1 });
      const second = await engine.expired({
        ...ever,
        limit: 1,
        ...(first.next !== undefined && { after: first.next }),
      });
      expect([...first.runIds, ...second.runIds]).toEqual(ids);
      expect(await engine.expired(ever)).toEqual({ runIds: ids });
      const { createdAt = 0, updatedAt = 0 } = (await engine.get(ids[0] ?? "")) ?? {};
      expect((await engine.expired({ ...ever, endedBy: updatedAt - 1 })).runIds).toEqual([]);
      expect((await engine.expired({ ...ever, acceptedBy: createdAt - 1 })).runIds).toEqual([]);
      await engine.delete({ runIds: ids });
      expect(await engine.get(asked)).toBeUndefined();
      await engine.deliver(open.id, "go", null);
      await until(engine, open.id, "completed");
      expect((await engine.expired(ever)).runIds).toHaveLength(2);
    });

    test("the journals of ended runs go without them, some at a time", async () => {
      const engine = cases.working(async (run, input) => {
        await run.step("s", async () => "x");
        if (input === "wait") await run.signal("go", {});
        return "kept";
      });
      const ids = [await start(engine), await start(engine), await start(engine)].map(({ id }) => id);
      for (const id of ids) await until(engine, id, "completed");
      const waiting = await start(engine, { input: "wait" });
      await until(engine, waiting.id, "waiting");
      const ever = Number.MAX_SAFE_INTEGER;
      expect(await engine.deleteJournals({ endedBy: 0, limit: 9 })).toEqual({ runs: 0 });
      expect(await engine.deleteJournals({ endedBy: ever, limit: 9, dryRun: true })).toEqual({ runs: 3 });
      const { runs, next = "" } = await engine.deleteJournals({ endedBy: ever, limit: 2 });
      expect(runs).toBe(2);
      expect(await engine.deleteJournals({ endedBy: ever, limit: 2, after: next })).toEqual({ runs: 1 });
      expect(await engine.deleteJournals({ endedBy: ever, limit: 9 })).toEqual({ runs: 0 });
      // Signals go too, where a run did nothing else.
      const told = await start(engine, { kind: "nobody's" });
      await engine.deliver(told.id, "s", { sent: hashOf("a") });
      await engine.cancel(told.id);
      expect(await engine.deleteJournals({ endedBy: ever, limit: 9 })).toEqual({ runs: 1 });
      expect(await engine.deleteJournals({ endedBy: ever, limit: 9 })).toEqual({ runs: 0 });
      expect((await engine.get(ids[0] ?? ""))?.output).toBe("kept");
      expect((await engine.events(ids[0] ?? "")).length).toBeGreaterThan(0);
      await engine.deliver(waiting.id, "go", null);
      await until(engine, waiting.id, "completed");
    });

    test("a store in a file is copied, any other refuses to be; either is scrubbed while its runs go on", async () => {
      const engine = cases.working((run) => run.signal("go", {}));
      const waiting = await start(engine, { input: "copied" });
      await until(engine, waiting.id, "waiting");
      const folder = await mkdtemp(join(tmpdir(), "copy-"));
      const copy = join(folder, "copy.db");
      if (cases.isFile) {
        await engine.backup(copy);
        expect(await codeOf(engine.backup(copy))).toBe("storage_unavailable");
        expect((await Bun.file(copy).stat()).size).toBeGreaterThan(0);
      } else expect(await codeOf(engine.backup(copy))).toBe("invalid_input");
      expect(await engine.scrub()).toBe(true);
      await engine.deliver(waiting.id, "go", "on");
      expect((await until(engine, waiting.id, "completed")).output).toBe("on");
      await rm(folder, { recursive: true });
    });
  });
}
