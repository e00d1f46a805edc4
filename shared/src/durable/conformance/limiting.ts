import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import { QuotaError } from "../../core/runs/quota.ts";
import type { Run } from "../../core/runs/run.ts";
import { type Cases, codeOf, request, until } from "./cases.ts";

const usage = { inputTokens: 7, cachedInputTokens: 0, outputTokens: 3, costUsd: 0.5, source: "provider" } as const;
const replied = { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 1 } as const;

const of = (principal: string) => ({ ...request, principal, contextId: crypto.randomUUID() });

/**
 * A body of which `count` runs with the input "held" are held at first, all until the gate opens.
 */
function gated(count: number, perform: (run: Run, input: Json) => Promise<void>) {
  const gate = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  let left = count;
  const execute = async (run: Run, input: Json) => {
    if (input === "held" && --left === 0) all.resolve();
    if (input === "held") await gate.promise;
    await perform(run, input);
    return null;
  };
  return { execute, gate, held: all.promise };
}

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

    test.each([1, 2])(
      "of %d workers with less room than runs, one principal's 200 keep no other from its first",
      async (workers) => {
        const order: string[] = [];
        const { execute, gate, held } = gated(workers, async (run, input) => {
          order.push(run.principal);
          if (input === "sleeps") await run.sleep(1);
        });
        const engines = Array.from({ length: workers }, () => cases.working(execute, { concurrency: 1 }));
        const [engine = cases.open()] = engines;
        for (const one of engines) await one.start({ ...of("ann"), input: "held" });
        await held;
        const many = await Promise.all(
          Array.from({ length: 200 }, (_, at) => engine.start({ ...of("ann"), input: at % 3 === 0 ? "sleeps" : null })),
        );
        const others = await Promise.all(["bob", "eve", "bob"].map((principal) => engine.start(of(principal))));
        await cases.asked(workers + many.length + others.length);
        gate.resolve();
        for (const { run } of others) await until(engine, run.id, "completed");
        const before = order.slice(0, order.lastIndexOf("bob"));
        expect(before.filter((principal) => principal === "ann").length).toBeLessThanOrEqual(8 * workers);
        for (const { run } of many) await until(engine, run.id, "completed");
      },
    );

    test("a run that wakes, by the time or by a signal, takes its principal's turn", async () => {
      const order: string[] = [];
      const { execute, gate, held } = gated(1, async (run, input) => {
        if (input === "sleeps") await run.sleep(1_200);
        if (input === "listens") await run.signal("go");
        order.push(run.principal);
      });
      const engine = cases.working(execute, { concurrency: 1 });
      const sleeper = (await engine.start({ ...of("bob"), input: "sleeps" })).run;
      const asleep = await until(engine, sleeper.id, "waiting");
      const listener = (await engine.start({ ...of("eve"), input: "listens" })).run;
      await until(engine, listener.id, "waiting");
      await engine.start({ ...of("ann"), input: "held" });
      await held;
      const many = await Promise.all(Array.from({ length: 60 }, () => engine.start(of("ann"))));
      await engine.deliver(listener.id, "go", null);
      // Its time is over then, by any clock, and by a scheduler that is a little late.
      await Bun.sleep(Math.max(0, asleep.updatedAt + 2_500 - Date.now()));
      gate.resolve();
      for (const { id } of [sleeper, listener]) await until(engine, id, "completed");
      for (const { run } of many) await until(engine, run.id, "completed");
      for (const woken of ["bob", "eve"]) expect(order.indexOf(woken)).toBeLessThanOrEqual(4);
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

    test("a run that pauses counts among those that its principal has at once, until it is canceled", async () => {
      const engine = cases.working((run) =>
        run.step("tell", async (step) => void step.emit({ type: "told", amount: 1n as never })).then(() => null),
      );
      const quota = { runsAtOnce: 1 };
      const { run } = await engine.start({ ...request, quota });
      await until(engine, run.id, "paused");
      expect((await engine.usage("ann")).runs).toBe(1);
      expect(await codeOf(engine.start({ ...request, quota }))).toBe("quota_exceeded");
      await engine.cancel(run.id);
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
      // Another principal's key finds nothing, and neither does one that is too old.
      const none = { starts: true, quota: { tokensPerDay: 0 } };
      expect(await codeOf(engine.admit({ ...again, ...none, principal: "bob" }))).toBe("quota_exceeded");
      expect(await codeOf(engine.admit({ ...again, ...none, dedupe: { key: "k", withinMs: 0 } }))).toBe(
        "quota_exceeded",
      );
      const hashed = { ...request, contextId: "c2", dedupe: { key: "hashed", hash: "one", perContext: true } };
      await engine.start(hashed);
      const changed = { ...hashed, ...none, dedupe: { ...hashed.dedupe, hash: "two" } };
      await engine.admit({ ...hashed, ...none });
      expect(await codeOf(engine.admit(changed))).toBe("conflict");
      expect(await codeOf(engine.admit({ ...changed, contextId: "c3" }))).toBe("quota_exceeded");
      expect((await engine.start(request)).created).toBe(true);
      expect((await engine.usage("ann")).runs).toBe(1);
    });

    test("what runs use counts once for their principal, in every engine of the store, and limits the day", async () => {
      const engine = cases.working(async (run) => {
        await run.step("s", async (step) => {
          step.emit(replied);
          step.emit({ ...replied, discarded: usage });
          // What has no known price counts too, and so does what came of nothing.
          step.emit({ ...replied, usage: { ...usage, costUsd: null } });
          step.emit({ type: "context-compacted", summary: "", kept: 0, discarded: usage });
          return null;
        });
        run.emit({ type: "context-compacted", summary: "", kept: 0, usage });
        return null;
      });
      const { run } = await engine.start({ ...request, quota: {} });
      await until(engine, run.id, "completed");
      const other = cases.open();
      expect(await other.usage("ann")).toMatchObject({ runs: 0, tokens: 60, usd: 2.5 });
      expect(await other.usage("bob")).toMatchObject({ tokens: 0, usd: 0 });
      for (const quota of [{ tokensPerDay: 60 }, { usdPerDay: 2.5 }]) {
        const refused = await engine.start({ ...request, quota }).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(QuotaError);
        const { retryAfter } = refused as QuotaError;
        expect(retryAfter > 0 && retryAfter <= 86_400).toBe(true);
        expect(await codeOf(other.admit({ ...request, quota, starts: false }))).toBe("quota_exceeded");
      }
      await engine.start({ ...request, quota: { tokensPerDay: 61, usdPerDay: 2.6 } });
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

    test("the usage of an agent that was asked counts however it ended, unless its run is in the same store and has counted it", async () => {
      const answered = { type: "agent-answered", files: [] } as const;
      const used = { tokens: 10, usd: 1, unpriced: false };
      const error = { code: "task_failed", message: "No." } as const;
      const engine = cases.working(async (run) => {
        for (const [index, end] of [{ state: "completed" }, { state: "failed", error }].entries()) {
          const askId = `${run.id}/${index}`;
          const dedupe = { key: JSON.stringify(["helper", "ann", askId]) };
          await engine.start({ ...request, kind: "helper", dedupe, events: [replied] });
          run.emit({ ...answered, ...end, askId, agent: "helper", usage: used });
          run.emit({ ...answered, ...end, askId: `${askId}/1`, agent: "elsewhere", usage: used });
        }
        return null;
      });
      const { run } = await engine.start(request);
      await until(engine, run.id, "completed");
      expect(await engine.usage("ann")).toMatchObject({ tokens: 40, usd: 3 });
    });
  });
}
