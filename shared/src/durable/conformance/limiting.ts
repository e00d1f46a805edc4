import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import { QuotaError } from "../../core/runs/quota.ts";
import { type Cases, codeOf, request, until } from "./cases.ts";

const usage = { inputTokens: 7, cachedInputTokens: 0, outputTokens: 3, costUsd: 0.5, source: "provider" } as const;
const replied = { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 1 } as const;

/** What a principal uses, and what it may. */
export function limitingCases(cases: Cases): void {
  describe("limiting", () => {
    test("of many runs that a principal starts at once only as many are accepted as it may have", async () => {
      const engine = cases.working(async (run) => run.signal("go"));
      const starts = Array.from({ length: 8 }, () => codeOf(engine.start({ ...request, quota: { runsAtOnce: 3 } })));
      const refused = (await Promise.all(starts)).filter((code) => code === "quota_exceeded");
      expect(refused.length).toBe(5);
      expect((await engine.list({ principal: "ann", limit: 9 })).total).toBe(3);
      expect(await engine.usage("ann")).toMatchObject({ runs: 3, tokens: 0, usd: 0 });
      await engine.start({ ...request, principal: "bob", quota: { runsAtOnce: 1 } });
    });

    test("while there is less room than runs, principals take turns: one with many does not keep another from its first", async () => {
      const order: string[] = [];
      const gate = Promise.withResolvers<void>();
      const busy = Promise.withResolvers<void>();
      const engine = cases.working(
        async (run, input) => {
          if (input === "first") busy.resolve();
          if (input === "first") await gate.promise;
          order.push(run.principal);
          if (input === "sleeps") await run.sleep(1);
          return null;
        },
        { concurrency: 1 },
      );
      const of = (principal: string, input: Json) => engine.start({ ...request, principal, input });
      const first = await of("ann", "first");
      await busy.promise;
      const many = await Promise.all(Array.from({ length: 30 }, (_, at) => of("ann", at % 3 === 0 ? "sleeps" : null)));
      const others = [await of("bob", null), await of("eve", null), await of("bob", null)];
      gate.resolve();
      for (const { run } of [first, ...others]) await until(engine, run.id, "completed");
      const before = order.lastIndexOf("bob");
      expect(order.slice(0, before).filter((principal) => principal === "ann").length).toBeLessThanOrEqual(4);
      for (const { run } of many) await until(engine, run.id, "completed");
    });

    test("a run that ends, however it ends, makes room for another", async () => {
      const engine = cases.working(async (run) => run.signal("go"));
      const quota = { runsAtOnce: 1 };
      const first = (await engine.start({ ...request, quota })).run;
      expect(await codeOf(engine.start({ ...request, quota }))).toBe("quota_exceeded");
      await engine.deliver(first.id, "go", null);
      await until(engine, first.id, "completed");
      const second = (await engine.start({ ...request, quota })).run;
      await engine.cancel(second.id);
      await until(engine, second.id, "canceled");
      expect((await engine.start({ ...request, quota })).created).toBe(true);
    });

    test("a request that finds its run is never refused, and neither is a run that is part of another", async () => {
      const engine = cases.working(async (run) => run.signal("go"));
      const again = { ...request, dedupe: { key: "k" }, quota: { runsAtOnce: 1 } };
      const { run } = await engine.start(again);
      expect(await engine.start(again)).toMatchObject({ created: false, run: { id: run.id } });
      await engine.admit({ ...again, starts: true });
      expect(await codeOf(engine.admit({ ...again, dedupe: { key: "other" }, starts: true }))).toBe("quota_exceeded");
      await engine.admit({ ...again, dedupe: { key: "other" }, starts: false });
      expect((await engine.start(request)).created).toBe(true);
      expect((await engine.usage("ann")).runs).toBe(1);
    });

    test("what runs use counts once for their principal, in every engine of the store, and limits the day", async () => {
      const engine = cases.working(async (run) => {
        await run.step("s", async (step) => {
          step.emit(replied);
          step.emit({ ...replied, discarded: usage });
          return null;
        });
        run.emit({ type: "context-compacted", summary: "", kept: 0, usage });
        return null;
      });
      const { run } = await engine.start({ ...request, quota: {} });
      await until(engine, run.id, "completed");
      const other = cases.open();
      expect(await other.usage("ann")).toMatchObject({ runs: 0, tokens: 40, usd: 2 });
      expect(await other.usage("bob")).toMatchObject({ tokens: 0, usd: 0 });
      for (const quota of [{ tokensPerDay: 40 }, { usdPerDay: 2 }]) {
        const refused = await engine.start({ ...request, quota }).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(QuotaError);
        const { retryAfter } = refused as QuotaError;
        expect(retryAfter > 0 && retryAfter <= 86_400).toBe(true);
        expect(await codeOf(other.admit({ ...request, quota, starts: false }))).toBe("quota_exceeded");
      }
      await engine.start({ ...request, quota: { tokensPerDay: 41, usdPerDay: 2.1 } });
    });

    test("what a principal uses outside its runs counts beside what they use", async () => {
      const engine = cases.open();
      await engine.start({ ...request, events: [replied] });
      await engine.spend("ann", { tokens: 5, usd: 0.25 });
      await engine.spend("ann", { tokens: 1, usd: 0 });
      await engine.spend("bob", { tokens: 2, usd: 0 });
      expect(await cases.open().usage("ann")).toMatchObject({ runs: 0, tokens: 16, usd: 0.75 });
      expect(await engine.usage("bob")).toMatchObject({ tokens: 2, usd: 0 });
      expect(await codeOf(engine.start({ ...request, quota: { tokensPerDay: 16 } }))).toBe("quota_exceeded");
    });

    test("the usage of an agent that was asked counts, unless its run is in the same store and has counted it", async () => {
      const answered = { type: "agent-answered", state: "completed", files: [] } as const;
      const used = { tokens: 10, usd: 1, unpriced: false };
      const engine = cases.working(async (run) => {
        const dedupe = (agent: string) => ({ key: JSON.stringify([agent, "ann", `${run.id}/1`]) });
        await engine.start({ ...request, kind: "helper", dedupe: dedupe("helper"), events: [replied] });
        run.emit({ ...answered, askId: `${run.id}/1`, agent: "helper", usage: used });
        run.emit({ ...answered, askId: `${run.id}/2`, agent: "elsewhere", usage: used });
        return null;
      });
      const { run } = await engine.start(request);
      await until(engine, run.id, "completed");
      expect(await engine.usage("ann")).toMatchObject({ tokens: 20, usd: 1.5 });
    });
  });
}
