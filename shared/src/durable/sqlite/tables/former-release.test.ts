import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { scratch } from "../../../testing/durable/scratch.ts";
import { until } from "../../conformance/cases.ts";
import { createEmbeddedEngine } from "../embedded-engine.ts";
import { migrations } from "./schema.ts";

const text = await Bun.file(new URL("./former-release.sql", import.meta.url)).text();
const statements = text.split("\n").filter((line) => line !== "" && !line.startsWith("--"));

/** The former release's statement that begins like this. */
function formerly(beginning: string): string {
  const found = statements.filter((statement) => statement.startsWith(beginning));
  if (found[0] === undefined) throw new Error(`There was no statement ${beginning}.`);
  return found[0];
}

const request = { kind: "k", input: null, principal: "p", contextId: "c" };

test("every statement of the former release works on today's schema", async () => {
  using store = scratch();
  await createEmbeddedEngine({ path: store.path }).close();
  using db = new Database(store.path, { strict: true });
  expect(statements.length).toBeGreaterThan(60);
  for (const statement of statements) expect(() => db.prepare(statement)).not.toThrow();
});

test("a process of the former release and one of today share a store: each goes on with what the other began", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path, leaseMs: 60_000 });
  const { run } = await engine.start(request);
  using former = new Database(store.path, { strict: true });
  former.run("PRAGMA busy_timeout = 5000");
  const call = (beginning: string, ...values: (string | number | null)[]) =>
    former.query<{ n: number; epoch: number }, typeof values>(formerly(beginning)).get(...values);
  call("INSERT INTO workers", "former", "elsewhere", 1, "x");

  const [most, newest] = [Number.MAX_SAFE_INTEGER, '{"k":1}'];
  const claimed = call("UPDATE runs SET status = 'running'", '["k "]', most, "former", 1, 1, newest);
  expect(claimed).toMatchObject({ id: run.id, epoch: 1, body: 1 });
  call("INSERT INTO journal", claimed?.n ?? 0, "0", "step", "first", "done", "1", null);
  call("UPDATE runs SET status = 'queued', owner = NULL, due = ?", 0, 0, "former");

  engine.work([
    {
      kind: "k",
      body: 2,
      execute: async (it) => it.step("other", async () => "second body"),
      former: [
        {
          body: 1,
          async execute(it) {
            await it.step("first", async () => "not again");
            return "first body";
          },
        },
      ],
    },
  ]);
  expect((await until(engine, run.id, "completed")).output).toBe("first body");
  expect(call("SELECT * FROM runs WHERE id = ?", run.id)).toMatchObject({
    status: "completed",
    output: '"first body"',
  });
  await engine.close();
});

test("the flows' versions of a body, which their first steps recorded, become their runs'", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const bodies = { '{"goal":"a","body":2,"unpriced":null}': 2, '{"goal":"b"}': null, '{"body":"x"}': null, "[]": null };
  const ids: string[] = [];
  for (const _ of Object.keys(bodies)) ids.push((await engine.start(request)).run.id);
  await engine.close();
  {
    using db = new Database(store.path);
    for (const one of ["TABLE search", "INDEX runs_unsearchable", "INDEX runs_ended", "INDEX runs_queued"])
      db.run(`DROP ${one}`);
    db.run("ALTER TABLE runs DROP COLUMN searchable");
    db.run("ALTER TABLE runs DROP COLUMN body");
    db.run("ALTER TABLE workers DROP COLUMN bodies");
    db.run("UPDATE runs SET epoch = 1");
    db.run("DROP INDEX runs_asked");
    db.run("CREATE INDEX runs_asker ON runs (id)");
    db.run("PRAGMA user_version = 6");
    for (const [index, out] of Object.keys(bodies).entries())
      db.run("INSERT INTO journal SELECT n, '0', 'step', 'begin', 'done', ?, NULL FROM runs WHERE id = ?", [
        out,
        ids[index] ?? "",
      ]);
  }
  await createEmbeddedEngine({ path: store.path }).close();
  using db = new Database(store.path);
  const bodyOf = (id: string) =>
    db.query<{ body: number }, [string]>("SELECT body FROM runs WHERE id = ?").get(id)?.body;
  expect(ids.map(bodyOf) as unknown[]).toEqual(Object.values(bodies));
});

test("a store of the next version is opened as it is, one of a later version is refused in a sentence", async () => {
  using store = scratch();
  await createEmbeddedEngine({ path: store.path }).close();
  const known = migrations.length;
  using db = new Database(store.path);
  db.run("ALTER TABLE runs ADD COLUMN of_the_next_version TEXT");
  db.run(`PRAGMA user_version = ${known + 1}`);
  const engine = createEmbeddedEngine({ path: store.path });
  engine.work([{ kind: "k", execute: async () => "done" }]);
  const { run } = await engine.start(request);
  expect((await until(engine, run.id, "completed")).output).toBe("done");
  await engine.close();
  expect(db.query("PRAGMA user_version").get()).toEqual({ user_version: known + 1 });

  db.run(`PRAGMA user_version = ${known + 2}`);
  expect(() => createEmbeddedEngine({ path: store.path })).toThrow(
    `${store.path} was written by a newer version (schema ${known + 2}, this one knows ${known}). Upgrade, or use another file.`,
  );
});
