import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { PoweredDisk } from "../../testing/durable/powered-disk.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

const runs = 24;
const request = { kind: "k", input: null, principal: "p", contextId: "c" };
const runRow = "SELECT status, cancel_requested AS canceled, last_event FROM runs WHERE id = ?";
const event = "SELECT seq FROM events JOIN runs ON n = run WHERE id = ? AND seq = ?";
const journal = "SELECT state FROM journal JOIN runs ON n = run WHERE id = ? AND name = ? AND state = ?";
const signal = "SELECT payload FROM signals JOIN runs ON runs.n = run WHERE runs.id = ?";

type Row = { readonly status: string; readonly canceled: number; readonly last_event: number } | null;

/** How many processes write the store, and how many share it. */
const sharing = [
  { name: "one process", writing: 1, all: 1 },
  { name: "a process that only reads beside another", writing: 1, all: 2 },
  { name: "two processes", writing: 2, all: 2 },
];

test.each(sharing)(
  "$name: nothing is told, shown or done that a loss of power would undo",
  async ({ writing, all }) => {
    using store = scratch();
    const disk = new PoweredDisk(store.path, join(store.folder, "left"));
    const lies: string[] = [];
    let told = 0;
    const tell = (what: string, isLeft: unknown): null => {
      told++;
      if (isLeft === null || isLeft === undefined || isLeft === false) lies.push(what);
      return null;
    };
    const deleted = new Set<string>();
    const row = (id: string) => disk.left(runRow, id) as Row;

    const execute = async (run: Run) => {
      run.emit({ type: "note", text: "begun" });
      await run.step("computed", async () => 1, { effect: "pure" });
      await run.step("act", async () => {
        tell("a step acts: its run", row(run.id));
        return tell("a step acts: what was computed before", disk.left(journal, run.id, "computed", "done"));
      });
      await run.step(
        "act once",
        async (step) => {
          tell("a step acts once: its beginning", disk.left(journal, run.id, "act once", "started"));
          step.emit({ type: "note", text: "acting with effects" });
          step.progress({ type: "note", text: "acting" });
          return null;
        },
        { effect: "once" },
      );
      await run.signal("go");
      await run.step("act again", async () => {
        tell("a step acts: what was done once", disk.left(journal, run.id, "act once", "done"));
        return tell("a step acts: its signal", disk.left(journal, run.id, "go", "done"));
      });
      run.emit({ type: "note", text: "ended" });
      return null;
    };
    const engines = Array.from({ length: all }, () =>
      createEmbeddedEngine({ path: store.path, pollMs: 5, syncFile: disk.syncFile }),
    );
    const engine = (at: number, among: number) => engines[at % among] as Engine;
    for (let at = 0; at < writing; at++) engine(at, writing).work([{ kind: "k", execute }], { concurrency: 8 });

    async function read(engine: Engine, id: string): Promise<void> {
      for await (const item of engine.follow(id, { signal: AbortSignal.timeout(60_000) })) {
        if (item.kind === "event") tell(`event ${item.seq}`, disk.left(event, id, item.seq));
        else tell("progress: the event before it", disk.left(event, id, 1));
      }
      const record = await engine.get(id);
      tell(`the end as ${record?.status}`, row(id)?.status === record?.status);
      for (const { id: listed, status } of (await engine.list({ limit: 5 })).runs) {
        const left = row(listed);
        const isLeft = left !== null && (status !== "completed" || left.status === status);
        tell(`listed as ${status}`, isLeft || deleted.has(listed));
      }
    }

    async function task(at: number): Promise<void> {
      const [one, other, reader] = [engine(at, writing), engine(at + 1, writing), engine(1, all)];
      await Bun.sleep(Math.random() * 300);
      const starting = { ...request, dedupe: { key: String(at) } };
      const { run } = await one.start(starting);
      tell("accepted", row(run.id));
      const again = await other.start(starting);
      tell("accepted already", again.run.id === run.id && row(run.id));
      const readers = [read(one, run.id), read(reader, run.id)];
      await Bun.sleep(Math.random() * 50);
      if (at % 5 === 0) {
        const canceled = await other.cancel(run.id).then(
          () => true,
          () => false,
        );
        const left = row(run.id);
        tell("canceled", !canceled || left?.status === "canceled" || left?.canceled === 1);
      } else {
        expect(await other.deliver(run.id, "go", at)).toBe("stored");
        tell("delivered", disk.left(signal, run.id));
        expect(await one.deliver(run.id, "go", at)).toBe("duplicate");
        tell("delivered already", disk.left(signal, run.id));
      }
      await Promise.all(readers);
      await other.spend("p", { tokens: 1, usd: 0 });
      const { tokens } = await reader.usage("p");
      tell("used", Number((disk.left("SELECT sum(tokens) AS n FROM usage") as { n: number }).n) >= tokens);
      if (at % 3 > 0) return;
      deleted.add(run.id);
      await one.delete({ runIds: [run.id], thorough: true });
      tell("deleted", row(run.id) === null);
      if (at % 6 === 0) await other.scrub();
      else await one.backup(join(store.folder, `${at}.backup`));
    }

    try {
      await Promise.all(Array.from({ length: runs }, (_, at) => task(at)));
    } finally {
      for (const engine of engines) await engine.close();
    }
    expect(lies).toEqual([]);
    expect(told).toBeGreaterThan(runs * 20);
  },
  120_000,
);

test("after a sync that failed nothing is told until the store's own file has been written", async () => {
  using store = scratch();
  let broken = false;
  const syncFile = async () => {
    if (broken) throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
  };
  const engine = createEmbeddedEngine({ path: store.path, syncFile });
  broken = true;
  using reader = new Database(store.path, { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM runs").get();
  let isTold = false;
  const started = engine.start(request).finally(() => {
    isTold = true;
  });
  await until(() => !engine.health().ok);
  expect(await engine.list({ limit: 1 }).then(String, (error) => error.code)).toBe("storage_unavailable");
  expect(await engine.start(request).then(String, (error) => error.code)).toBe("storage_unavailable");
  broken = false;
  await Bun.sleep(300);
  expect([isTold, engine.health().ok]).toEqual([false, false]);
  reader.run("COMMIT");
  const { run } = await started;
  copyFileSync(store.path, `${store.path}.alone`);
  using alone = new Database(`${store.path}.alone`);
  expect(alone.query("SELECT id FROM runs").all()).toEqual([{ id: run.id }]);
  expect((await engine.start(request)).created).toBe(true);
  await engine.close();
});
