import { describe, expect, test } from "bun:test";
import type { FollowItem } from "../../core/runs/engine.ts";
import { body, type Cases, collect, start, until, withinMs } from "./cases.ts";

/** Reading the log from any point and then live. */
export function followingCases(cases: Cases): void {
  describe("following", () => {
    test("stored events come first, then live ones, and the stream ends after the last event", async () => {
      const engine = cases.open();
      const run = await start(engine, { events: [{ type: "stored" }] });
      const items = collect(engine, run.id);
      engine.work([
        body(async (own) => {
          own.emit({ type: "live" });
          await own.signal("go");
          return null;
        }),
      ]);
      await until(engine, run.id, "waiting");
      await engine.deliver(run.id, "go", null);
      const expected = [
        [1, "stored"],
        [2, "live"],
        [3, "run-ended"],
      ];
      expect((await items).map((item) => item.kind === "event" && [item.seq, item.event.type])).toEqual(expected);
      const rest = await collect(engine, run.id, 1);
      expect(rest.map((item) => item.kind === "event" && item.seq)).toEqual([2, 3]);
      expect(await collect(engine, run.id, 3)).toEqual([]);
    });

    test("progress appears between the right events, and is gone afterwards", async () => {
      const engine = cases.open();
      const run = await start(engine, { events: [{ type: "begun" }] });
      const items = engine.follow(run.id, { signal: AbortSignal.timeout(withinMs) })[Symbol.asyncIterator]();
      const first = await items.next();
      engine.work([
        body(async (own) => {
          for (const n of [1, 2]) {
            await own.step("talk", async (step) => {
              step.progress({ type: "delta", n });
              step.progress({ type: "delta", n });
              step.emit({ type: "said", n });
              return null;
            });
          }
          return null;
        }),
      ]);
      const seen: string[] = [];
      for (let next = first; !next.done; next = await items.next())
        seen.push(`${next.value.kind} ${next.value.event.type}${next.value.event.n ?? ""}`);
      expect(seen).toEqual([
        "event begun",
        "progress delta1",
        "progress delta1",
        "event said1",
        "progress delta2",
        "progress delta2",
        "event said2",
        "event run-ended",
      ]);
      expect((await collect(engine, run.id)).map((item) => item.kind)).not.toContain("progress");
    });

    test("pages hold the same items in order: many events that are there at once, few if they are large", async () => {
      const engine = cases.open();
      const events = (count: number, length: number) =>
        Array.from({ length: count }, () => ({ type: "said", text: "x".repeat(length) }));
      const run = await start(engine, { events: [...events(300, 10), ...events(20, 10_000), ...events(20, 100_000)] });
      await engine.cancel(run.id);
      const pages = await Array.fromAsync(engine.follow(run.id, { signal: AbortSignal.timeout(withinMs) }).pages());
      expect(pages.flat()).toEqual(await collect(engine, run.id));
      expect(pages.flat()).toHaveLength(341);
      const characters = pages.map((page) => JSON.stringify(page).length);
      expect(Math.max(...characters)).toBeLessThan(200_000);
      expect(pages.length).toBeLessThan(36);
    });

    test("a reader that takes its time reads progress behind the event that was there before it", async () => {
      const engine = cases.open();
      const run = await start(engine, { events: [{ type: "begun" }, { type: "said" }] });
      const signal = AbortSignal.timeout(withinMs);
      const late = engine.follow(run.id, { signal })[Symbol.asyncIterator]();
      expect((await late.next()).value?.event.type).toBe("begun");
      const goOn = Promise.withResolvers<void>();
      engine.work([
        body(async (own) => {
          await own.step("talk", async (step) => {
            step.progress({ type: "delta" });
            await goOn.promise;
            return null;
          });
          return null;
        }),
      ]);
      for await (const { kind } of engine.follow(run.id, { signal })) if (kind === "progress") break;
      const seen = [await late.next(), await late.next()].map(({ value }) => value?.event.type);
      goOn.resolve();
      expect(seen).toEqual(["said", "delta"]);
      await until(engine, run.id, "completed");
    });

    test("a reader that comes late reads progress behind the event that was there before it", async () => {
      const engine = cases.open();
      const run = await start(engine, { events: [{ type: "begun" }] });
      const signal = AbortSignal.timeout(withinMs);
      const late = engine.follow(run.id, { signal })[Symbol.asyncIterator]();
      expect((await late.next()).value?.event.type).toBe("begun");
      const goOn = Promise.withResolvers<void>();
      engine.work([
        body(async (own) => {
          await own.step("say", async (step) => void step.emit({ type: "said" }));
          await own.step("talk", async (step) => {
            step.progress({ type: "delta" });
            await goOn.promise;
            return null;
          });
          return null;
        }),
      ]);
      for await (const { kind } of engine.follow(run.id, { signal })) if (kind === "progress") break;
      const seen = [await late.next(), await late.next()].map(({ value }) => value?.event.type);
      goOn.resolve();
      expect(seen).toEqual(["said", "delta"]);
      await until(engine, run.id, "completed");
    });

    test("who begins late is shown once what was shown since the last event, and who comes back nothing again", async () => {
      const engine = cases.open();
      const run = await start(engine, { events: [{ type: "begun" }] });
      const goOn = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
      engine.work([
        body(async (own) => {
          for (const [at, turn] of goOn.entries())
            await own.step("talk", async (step) => {
              for (const n of [1, 2]) step.progress({ type: "delta", n: 10 * at + n });
              await turn.promise;
              step.progress({ type: "delta", n: 10 * at + 3 });
              step.emit({ type: "said" });
              return null;
            });
          return null;
        }),
      ]);
      const reader = (options: { readonly after?: number; readonly shown?: boolean } = {}) => {
        const signal = AbortSignal.timeout(withinMs);
        const items = engine.follow(run.id, { ...options, signal })[Symbol.asyncIterator]();
        return async (count: number) => {
          const seen: unknown[] = [];
          while (seen.length < count) {
            const { value } = await items.next();
            seen.push(value?.event.n ?? value?.event.type);
          }
          return seen;
        };
      };
      const early = reader();
      expect(await early(3)).toEqual(["begun", 1, 2]);
      const late = [reader(), reader({ after: 1, shown: true })];
      const back = reader({ after: 1 });
      const begun = [late[0]?.(5), late[1]?.(4), back(2)];
      // Its first page is read by now, and the news come behind it.
      expect(await reader()(3)).toEqual(["begun", 1, 2]);
      goOn[0]?.resolve(null);
      expect(await early(4)).toEqual([3, "said", 11, 12]);
      expect(await Promise.all(begun)).toEqual([
        ["begun", 1, 2, 3, "said"],
        [1, 2, 3, "said"],
        [3, "said"],
      ]);
      expect(await reader()(4)).toEqual(["begun", "said", 11, 12]);
      goOn[1]?.resolve(null);
      expect(await back(5)).toEqual([11, 12, 13, "said", "run-ended"]);
    });

    test("progress comes behind all events that were there before it, also those of later pages", async () => {
      const engine = cases.open();
      const events = Array.from({ length: 4 }, () => ({ type: "said", text: "x".repeat(100_000) }));
      const run = await start(engine, { events });
      const signal = AbortSignal.timeout(withinMs);
      const slow = engine.follow(run.id, { signal }).pages()[Symbol.asyncIterator]();
      const page = async (): Promise<readonly FollowItem[]> => (await slow.next()).value ?? [];
      const seen = (await page()).map(({ kind }) => kind);
      expect(seen.length).toBeLessThan(events.length);
      const goOn = Promise.withResolvers<null>();
      engine.work([
        body((own) =>
          own.step("talk", (step) => {
            step.progress({ type: "delta" });
            return goOn.promise;
          }),
        ),
      ]);
      for await (const { kind } of engine.follow(run.id, { signal })) if (kind === "progress") break;
      while (!seen.includes("progress")) seen.push(...(await page()).map(({ kind }) => kind));
      goOn.resolve(null);
      expect(seen).toEqual(["event", "event", "event", "event", "progress"]);
      await until(engine, run.id, "completed");
    });

    test("a follower in another engine sees the same events, live", async () => {
      const engine = cases.working(async (run) => {
        for (let n = 0; n < 20; n++) await run.step("s", async (step) => void step.emit({ type: "stepped", n }));
        await run.signal("go");
        return null;
      });
      const elsewhere = cases.open();
      const run = await start(engine);
      const items = collect(elsewhere, run.id);
      await until(engine, run.id, "waiting");
      await elsewhere.deliver(run.id, "go", null);
      const followed = (await items).map((item) => ("seq" in item ? item.seq : 0));
      expect(followed).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
    });

    test("what is told of a run from outside is there at once, while nothing else happens to it", async () => {
      const first = cases.working(async (run) => run.signal("go"));
      const run = await start(first);
      await until(first, run.id, "waiting");
      await first.close();
      const changed = cases.working(async (own) => own.poll("go").then(() => null));
      await changed.deliver(run.id, "go", null);
      await until(changed, run.id, "paused");
      await changed.close();

      const engine = cases.open();
      const items = engine.follow(run.id, { signal: AbortSignal.timeout(withinMs) })[Symbol.asyncIterator]();
      const next = async () => (await items.next()).value?.event.type;
      expect(await next()).toBe("run-paused");
      const told: unknown[] = [];
      for (const change of [
        () => engine.deliver(run.id, "other", null, { events: [{ type: "message-received" }] }),
        () => engine.resume(run.id),
        () => engine.cancel(run.id),
      ]) {
        const type = next();
        await new Promise((resolve) => setImmediate(resolve));
        await change();
        told.push(await type);
      }
      expect(told).toEqual(["message-received", "run-resumed", "run-ended"]);
    });

    test("an abort ends the stream without an error, before its start and in the middle", async () => {
      const engine = cases.open();
      const run = await start(engine, { events: [{ type: "a" }] });
      for await (const _ of engine.follow(run.id, { signal: AbortSignal.abort() })) throw new Error("nothing expected");
      const stop = new AbortController();
      const seen: FollowItem[] = [];
      for await (const item of engine.follow(run.id, { signal: stop.signal })) {
        seen.push(item);
        setTimeout(() => stop.abort(), 5);
      }
      expect(seen.length).toBe(1);
    });

    test("a reader that stalls does not slow the run and misses no event", async () => {
      const engine = cases.open();
      const run = await start(engine);
      const reader = engine.follow(run.id, { signal: AbortSignal.timeout(withinMs) })[Symbol.asyncIterator]();
      const first = reader.next();
      engine.work([
        body(async (own) => {
          for (let n = 0; n < 300; n++) {
            own.emit({ type: "tick", n });
            if (n % 10 === 0)
              await own.step("talk", async (step) => {
                for (let i = 0; i < 200; i++) step.progress({ type: "delta" });
                return null;
              });
          }
          return null;
        }),
      ]);
      expect((await first).value?.event).toEqual({ type: "tick", n: 0 });
      await until(engine, run.id, "completed");
      let progress = 0;
      let events = 1;
      for (let next = await reader.next(); !next.done; next = await reader.next()) {
        if (next.value.kind === "progress") progress++;
        else expect(next.value.seq).toBe(++events);
      }
      expect(events).toBe(301);
      // What is kept for it, and what came with the page that it holds.
      expect(progress).toBeLessThanOrEqual(2 * 1000);
    });
  });
}
