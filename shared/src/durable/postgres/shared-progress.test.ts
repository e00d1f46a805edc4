import { afterAll, beforeAll, expect, test } from "bun:test";
import type { FollowItem } from "../../core/runs/engine.ts";
import type { Run, RunDefinition } from "../../core/runs/run.ts";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../testing/durable/postgres-process.ts";
import { until } from "../../testing/durable/until.ts";
import { Live } from "../live.ts";
import type { Database } from "./database.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";
import { type Followed, SharedProgress } from "./shared-progress.ts";

if (postgresPrograms === undefined) test.skip(noPostgres, () => undefined);
else {
  let server: PostgresProcess;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose](), 60_000);

  /** One engine that executes the run, and another where somebody follows it. */
  async function two(execute: RunDefinition["execute"]) {
    const url = await server.createDatabase();
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
}

/** Shared progress over a database that sends when it is let. */
function progressForTest() {
  const said: Followed[] = [];
  const sent: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const database = {
    sql: { listen: async () => ({ unlisten: async () => undefined }) },
    async query(_: string, [, payload = ""]: readonly string[]) {
      sent.push(...JSON.parse(payload));
      await gate.promise;
    },
  } as unknown as Database;
  const shared = new SharedProgress({
    ...{ database, live: new Live(), isHere: () => false },
    say: async (followed) => void said.push(followed),
  });
  const show = (runId: string, text: string) => shared.show(runId, 0, { type: "text-delta", text });
  return { shared, said, sent, show, letSend: gate.resolve };
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
