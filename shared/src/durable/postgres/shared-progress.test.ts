import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { FollowItem } from "../../core/runs/engine.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run, RunDefinition } from "../../core/runs/run.ts";
import { until } from "../../testing/durable/until.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { Live } from "../live.ts";
import type { Listening } from "./connections.ts";
import type { Database } from "./database.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";
import { type Followed, SharedProgress } from "./shared-progress.ts";

withPostgres((server) => {
  /** One engine that executes the run, and another where somebody follows it. */
  async function two(execute: RunDefinition["execute"]) {
    const url = await server().createDatabase();
    await migratePostgres({ url });
    const open = () => createPostgresEngine({ url, stopMs: 500, connections: 4 });
    const [works, reads] = [open(), open()];
    const { run } = await reads.start({ kind: "test", input: null, principal: "local", contextId: "c" });
    const items: FollowItem[] = [];
    const followed = (async () => {
      for await (const item of reads.follow(run.id, { signal: AbortSignal.timeout(30_000) })) items.push(item);
    })();
    works.work([{ kind: "test", execute }]);
    return {
      works,
      items,
      followed,
      async [Symbol.asyncDispose]() {
        await Promise.all([works.close({ graceMs: 0 }), reads.close({ graceMs: 0 })]);
      },
    };
  }

  const said = (items: readonly FollowItem[]) =>
    items.map(({ kind, event }) => (kind === "progress" ? `~${event.text}` : event.type));

  test("progress reaches a reader at another process, before the event that it leads to and never after", async () => {
    let isSeen = () => false;
    const pair = await two(async (run: Run) => {
      await run.step("one", async ({ progress, emit, signal }): Promise<undefined> => {
        // Until the reader is known here, what is shown is for nobody.
        while (!isSeen()) {
          signal.throwIfAborted();
          progress({ type: "text-delta", text: "a" });
          await Bun.sleep(20);
        }
        emit({ type: "one-said" });
      });
      await run.step("two", async ({ progress, emit }): Promise<undefined> => {
        progress({ type: "text-delta", text: "at the last moment" });
        emit({ type: "two-said" });
      });
      return null;
    });
    isSeen = () => pair.items.some(({ kind }) => kind === "progress");
    await using _ = pair;
    await pair.followed;
    const all = said(pair.items);
    expect(all.filter((text) => !text.startsWith("~"))).toEqual(["one-said", "two-said", "run-ended"]);
    expect(all[0]).toBe("~a");
    expect(all.slice(all.indexOf("one-said"))).not.toContain("~a");
    expect(all.slice(all.indexOf("two-said"))).not.toContain("~at the last moment");
  }, 60_000);

  test("who begins late at another process is shown what was shown since the last event, and who comes back is not", async () => {
    const url = await server().createDatabase();
    await migratePostgres({ url });
    const open = () => createPostgresEngine({ url, stopMs: 500, connections: 4 });
    const [works, reads] = [open(), open()];
    const goOn = Promise.withResolvers<null>();
    const execute = async (run: Run) => {
      await run.step("begin", async ({ emit }) => void emit({ type: "begun" }));
      return run.step("talk", async ({ progress }) => {
        for (const text of ["a", "b"]) progress({ type: "text-delta", text });
        await goOn.promise;
        progress({ type: "text-delta", text: "c" });
        return null;
      });
    };
    try {
      works.work([{ kind: "test", execute }]);
      const { run } = await works.start({ kind: "test", input: null, principal: "local", contextId: "c" });
      const signal = AbortSignal.timeout(30_000);
      const first: FollowItem[] = [];
      for await (const item of works.follow(run.id, { signal })) if (first.push(item) === 3) break;
      expect(said(first)).toEqual(["begun", "~a", "~b"]);
      const read = (place: object) => {
        const items: FollowItem[] = [];
        const all = (async () => {
          for await (const item of reads.follow(run.id, { ...place, signal })) items.push(item);
          return said(items);
        })();
        return { items, all };
      };
      const [back, late] = [read({ after: 1 }), read({})];
      await until(() => late.items.length === 3);
      goOn.resolve(null);
      expect([await late.all, await back.all].map((items) => items.filter((text) => text !== "~c"))).toEqual([
        ["begun", "~a", "~b", "run-ended"],
        ["run-ended"],
      ]);
    } finally {
      await Promise.all([works.close({ graceMs: 0 }), reads.close({ graceMs: 0 })]);
    }
  }, 60_000);

  test("much progress does not hold up the run, and what is too large is left out", async () => {
    let isSeen = () => false;
    let workedMs = 0;
    const pair = await two(async (run: Run) => {
      await run.step("one", async ({ progress, signal }): Promise<undefined> => {
        while (!isSeen()) {
          signal.throwIfAborted();
          progress({ type: "text-delta", text: "a" });
          await Bun.sleep(20);
        }
        const began = performance.now();
        progress({ type: "tool-output", callId: "c", text: "x".repeat(20_000) });
        for (let n = 0; n < 50_000; n++) progress({ type: "text-delta", text: `${n}` });
        workedMs = performance.now() - began;
      });
      return null;
    });
    isSeen = () => pair.items.some(({ kind }) => kind === "progress");
    await using _ = pair;
    await pair.followed;
    expect(workedMs).toBeLessThan(5_000);
    expect(pair.items.length).toBeLessThan(5_000);
    expect(said(pair.items).some((text) => text.length > 10_000)).toBe(false);
    expect(said(pair.items).at(-1)).toBe("run-ended");
  }, 60_000);
});

/**
 * Shared progress over a database that sends when it is let; `here` names what is executed here.
 */
function progressForTest({ here = [] as readonly string[], refusals = 0 } = {}) {
  const said: Followed[] = [];
  const sent: unknown[] = [];
  const payloads: (readonly [string, string])[] = [];
  const gate = Promise.withResolvers<void>();
  const at = { listening: 0, left: 0, hear: (_: string): void => undefined };
  const database = {
    async listen({ hear }: Listening) {
      if (at.listening++ < refusals) throw new Error("No connection.");
      at.hear = hear;
      return async () => void at.left++;
    },
    async query(_: string, [channel = "", payload = ""]: readonly string[]) {
      payloads.push([channel, payload]);
      sent.push(...JSON.parse(payload));
      await gate.promise;
    },
  } as unknown as Database;
  const live = new Live();
  const shared = new SharedProgress({
    ...{ database, live, log: silentLog, isHere: (runId) => here.includes(runId) },
    say: async (followed) => void said.push(followed),
  });
  const show = (runId: string, text: string) => shared.show(runId, 0, { type: "text-delta", text });
  return { shared, live, said, sent, payloads, show, at, letSend: gate.resolve };
}

test("a run counts as followed until the last of its followers here has left", async () => {
  const { shared, said } = progressForTest();
  const [leaveFirst, leaveSecond] = [await shared.follow("r"), await shared.follow("r")];
  leaveFirst();
  const leaveThird = await shared.follow("r");
  expect(said).toHaveLength(1);
  leaveSecond();
  leaveThird();
  await shared.follow("r");
  expect(said.map(({ runIds }) => runIds)).toEqual([["r"], ["r"]]);
  await shared.close();
});

test("what waits for a process that takes nothing is bounded, and so are the runs that others follow", async () => {
  const { shared, sent, show, letSend } = progressForTest();
  shared.followedElsewhere({ to: "other", runIds: ["r"] });
  show("r", "first");
  await until(() => sent.length === 1);
  for (let n = 0; n < 1_500; n++) show("r", `${n}`);
  letSend();
  await until(() => sent.length > 1_000);
  expect(sent).toHaveLength(1_001);
  expect(sent[1]).toMatchObject({ event: { text: "500" } });
  shared.followedElsewhere({ to: "other", runIds: Array.from({ length: 20_000 }, (_, n) => `r${n}`) });
  show("r", "forgotten");
  show("r0", "known");
  await until(() => sent.length > 1_001);
  expect(sent.slice(1_001)).toMatchObject([{ runId: "r0" }]);
  await shared.close();
});

afterEach(() => mock.restore());

test("a process says what it follows of what others execute, at once and every five seconds, a hundred at a time", async () => {
  const { shared, said, at } = progressForTest({ here: ["r0", "r1"], refusals: 1 });
  const every: (readonly [() => void, number])[] = [];
  spyOn(globalThis, "setInterval").mockImplementation(((work: () => void, ms: number) => {
    every.push([work, ms]);
    return { unref: () => undefined };
  }) as never);
  const leaving: (() => void)[] = [];
  for (let n = 0; n < 252; n++) leaving.push(await shared.follow(`r${n}`));
  expect(said.map(({ runIds }) => runIds)).toEqual(Array.from({ length: 250 }, (_, n) => [`r${n + 2}`]));
  // Where the first connection failed, the next follower asks for another.
  expect([at.listening, every.length, every[0]?.[1]]).toEqual([2, 1, 5_000]);
  said.splice(0);
  leaving[2]?.();
  every[0]?.[0]();
  await until(() => said.length === 3);
  expect(said.map(({ runIds }) => runIds.length)).toEqual([100, 100, 49]);
  expect(new Set(said.flatMap(({ runIds }) => runIds)).size).toBe(249);
  expect(said.flatMap(({ runIds }) => runIds)).not.toContain("r2");
  await shared.close();
  expect(at.left).toBe(1);
  every[0]?.[0]();
  await Bun.sleep(1);
  expect(said).toHaveLength(3);
});

test("progress goes to each process that said within fifteen seconds that it follows, and never back to this one", async () => {
  const { shared, said, payloads, show, letSend } = progressForTest();
  letSend();
  await shared.follow("mine");
  shared.followedElsewhere({ ...said[0], to: said[0]?.to ?? "", runIds: ["r"] });
  shared.followedElsewhere({ to: "early", runIds: ["r"] });
  const now = performance.now();
  const clock = spyOn(performance, "now").mockReturnValue(now + 14_000);
  shared.followedElsewhere({ to: "late", runIds: ["r"] });
  show("r", "one");
  clock.mockReturnValue(now + 16_000);
  show("r", "two");
  show("other", "nobody's");
  await until(() => payloads.length === 2);
  const texts = (payload: string) => JSON.parse(payload).map(({ event }: { event: { text: string } }) => event.text);
  expect(payloads.map(([channel, payload]) => [channel, texts(payload)])).toEqual([
    ["early", ["one"]],
    ["late", ["one", "two"]],
  ]);
  // A run of which nobody has said for long that they follow it is forgotten with the next word.
  clock.mockReturnValue(now + 40_000);
  shared.followedElsewhere({ to: "late", runIds: ["another"] });
  clock.mockReturnValue(now + 16_000);
  show("r", "three");
  show("another", "four");
  await until(() => payloads.length === 3);
  expect(texts(payloads[2]?.[1] ?? "[]")).toEqual(["four"]);
  clock.mockRestore();
  await shared.close();
  show("another", "five");
  await Bun.sleep(50);
  expect(payloads).toHaveLength(3);
});

test("what is sent fits what the database takes, by its bytes, with as much in one as fits and all in order", async () => {
  const { shared, payloads, sent, show, letSend } = progressForTest();
  letSend();
  shared.followedElsewhere({ to: "other", runIds: ["r"] });
  const texts = Array.from({ length: 60 }, (_, n) => `${n} ${"ü".repeat(n * 15)}`);
  const around = (bytes: number) =>
    "x".repeat(bytes - JSON.stringify([{ runId: "r", after: 0, event: event("") }]).length);
  const event = (text: string) => ({ type: "text-delta", text });
  for (const text of [...texts, "ü".repeat(4_000), around(7_900), around(7_901)]) show("r", text);
  await until(() => sent.length > texts.length);
  expect(sent).toEqual([...texts, around(7_900)].map((text) => ({ runId: "r", after: 0, event: event(text) })));
  const bytes = payloads.map(([, payload]) => Buffer.byteLength(payload));
  expect(Math.max(...bytes)).toBe(7_900);
  for (const [n, size] of bytes.slice(0, -1).entries()) expect(size + (bytes[n + 1] ?? 0)).toBeGreaterThan(7_900);
  await shared.close();
});

test("what another process shows is shown here, unless the run is executed here or the item makes no sense", async () => {
  const { shared, live, at } = progressForTest({ here: ["own"] });
  const [follower, own] = [live.follow("r"), live.follow("own")];
  await shared.follow("r");
  const item = (runId: string, after: unknown = 2) => ({ runId, after, event: { type: "text-delta", text: "t" } });
  at.hear(JSON.stringify([item("own"), item("r")]));
  at.hear(JSON.stringify([item("r", "2")]));
  for (const text of ["junk", "", "null"]) at.hear(text);
  follower.reached(3);
  at.hear(JSON.stringify([item("r")]));
  expect(follower.takeProgress(9)).toEqual([{ kind: "progress", event: { type: "text-delta", text: "t" } }]);
  expect(own.takeProgress(9)).toEqual([]);
  await shared.close();
  at.hear(JSON.stringify([item("r", 5)]));
  expect(follower.takeProgress(9)).toEqual([]);
});
