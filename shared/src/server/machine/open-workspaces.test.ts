import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "../../core/json.ts";
import { type Engine, silentLog } from "../../core/runs/engine.ts";
import { migratePostgres } from "../../durable/postgres/postgres-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import * as checkpoints from "../../machine/workspace/checkpoint/checkpoints.ts";
import * as sharedWorkspaces from "../../machine/workspace/checkpoint/share-workspaces.ts";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../testing/durable/postgres-process.ts";
import { skipped } from "../../testing/durable/skipped.ts";
import { bucketAt, type HostTask, openHost } from "../../testing/durable/workspace-host.ts";
import { startS3 } from "../../testing/machine/s3-server.ts";
import { openHomeFiles, openWorkspaces } from "./open-workspaces.ts";

const hostProcess = join(import.meta.dir, "../../testing/durable/workspace-host-process.ts");
const within = 30_000;

test("workspaces are shared only with a store of runs and a bucket, each agent's own, within their bounds and under its user", async () => {
  using sharing = spyOn(sharedWorkspaces, "shareWorkspaces").mockReturnValue({} as never);
  using checking = spyOn(checkpoints, "createWorkspaceCheckpoints").mockReturnValue({} as never);
  const open = async () => ({}) as never;
  const user = { uid: 7, gid: 8 };
  const deps = { name: "swe", user, open, release: async () => undefined, log: silentLog };
  const bucket = { ...bucketAt("http://127.0.0.1:1"), prefix: "team/", workspaceBytes: 5 };
  const conversations = {} as NonNullable<Engine["conversations"]>;
  for (const [config, engine] of [
    [{ home: "/h", bucket: undefined }, { conversations }],
    [{ home: "/h", bucket }, {}],
  ] as const)
    expect(openWorkspaces(config as never, { ...deps, engine: engine as never }).open).toBe(open);
  expect(sharing).not.toHaveBeenCalled();
  openWorkspaces({ home: "/h", bucket } as never, { ...deps, engine: { conversations } });
  expect(checking.mock.calls.at(-1)?.[0]).toMatchObject({ home: "/h", prefix: "team/", maxBytes: 5, user });
  expect(sharing.mock.calls[0]?.[0]).toMatchObject({ kind: "swe", conversations, open });
});

if (postgresPrograms === undefined) skipped(noPostgres);
else {
  let server: PostgresProcess;
  let base: string;
  beforeAll(async () => {
    [server, base] = [await startPostgres(), await mkdtemp(join(tmpdir(), "manyhands-hosts-"))];
  }, 60_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(base, { recursive: true });
  }, 60_000);

  /** Machines with one database and one bucket, each with a home of its own. */
  async function cluster() {
    const url = await server.createDatabase();
    await migratePostgres({ url });
    const s3 = startS3();
    const opened: Engine[] = [];
    const place = async () => ({ url, home: await mkdtemp(join(base, "home-")), endpoint: s3.endpoint });
    const client = openHost(await place());
    opened.push(client.engine);
    return {
      s3,
      place,
      /** Accepts runs and executes none. */
      engine: client.engine,
      async open(at?: Awaited<ReturnType<typeof place>>) {
        const { url, home, endpoint } = at ?? (await place());
        const options = { url, home, endpoint };
        const host = openHost(options);
        opened.push(host.engine);
        return { ...host, ...options };
      },
      async start(task: HostTask, contextId = "c") {
        const { run } = await client.engine.start({ kind: "hands", input: task as Json, principal: "ann", contextId });
        return run.id;
      },
      /** What a run said at its end: where it was, what it found, and what it was told. */
      async ended(id: string): Promise<{ home: string; found: string | null; notice: string | null }> {
        const items = client.engine.follow(id, { signal: AbortSignal.timeout(within) });
        for await (const _ of items) void _;
        const run = await client.engine.get(id);
        if (run?.status !== "completed") throw new Error(`It is ${run?.status}: ${run?.error?.message}`);
        return run.output as never;
      },
      async [Symbol.asyncDispose]() {
        await Promise.all(opened.map((engine) => engine.close({ graceMs: 0 })));
        await s3[Symbol.asyncDispose]();
      },
    };
  }

  async function until(holds: () => unknown): Promise<void> {
    for (const deadline = performance.now() + within; !(await holds()); await Bun.sleep(20))
      if (performance.now() > deadline) throw new Error("It did not come to that in time.");
  }

  const there = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );

  test("a conversation goes on at another machine with its files, and back again", async () => {
    await using all = await cluster();
    const one = await all.open();
    one.work();
    expect(await all.ended(await all.start({ write: "by one" }))).toEqual({
      home: one.home,
      found: null,
      notice: null,
    });
    await one.engine.close();
    const other = await all.open();
    other.work();
    expect(await all.ended(await all.start({ write: "by the other" }))).toEqual({
      ...{ home: other.home, found: "by one", notice: null },
    });
    await other.engine.close();
    const again = await all.open(one);
    again.work();
    expect(await all.ended(await all.start({}))).toEqual({ home: one.home, found: "by the other", notice: null });
  }, 60_000);

  test("a run of a conversation that a machine holds moves to it; other conversations go anywhere", async () => {
    await using all = await cluster();
    const [one, other] = [await all.open(), await all.open()];
    one.work();
    const first = await all.start({ write: "by one", hang: true });
    await until(() => there(join(one.home, "hangs")));
    other.work();
    const anywhere = async () => all.ended(await all.start({}, crypto.randomUUID()));
    await until(async () => (await anywhere()).home === other.home);
    const seconds = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => all.start({})));
    for (const id of seconds) expect(await all.ended(id)).toMatchObject({ home: one.home, found: "by one" });
    // At the machine that only has this one to do.
    await one.engine.close({ graceMs: 0 });
    await until(() => there(join(other.home, "hangs")));
    await all.engine.cancel(first);
    expect(await all.ended(await all.start({}))).toEqual({ home: other.home, found: "by one", notice: null });
  }, 60_000);

  test("when a machine dies, another goes on with what was stored last, and the model is told", async () => {
    await using all = await cluster();
    const place = await all.place();
    const process = Bun.spawn(["bun", hostProcess, place.url, place.home, place.endpoint], { stderr: "inherit" });
    try {
      await all.ended(await all.start({ write: "stored" }));
      const id = await all.start({ write: "not stored", hang: true });
      await until(() => there(join(place.home, "hangs")));
      const other = await all.open();
      other.work();
      process.kill("SIGKILL");
      const { home, found, notice } = await all.ended(id);
      expect([home, found]).toEqual([other.home, "stored"]);
      expect(notice).toContain("The machine with the files of this conversation is gone");
      expect(await all.ended(await all.start({}))).toEqual({ home: other.home, found: "not stored", notice: null });
    } finally {
      process.kill("SIGKILL");
      await process.exited;
    }
  }, 60_000);

  test("a machine that was killed and started again goes on with its own files", async () => {
    await using all = await cluster();
    const place = await all.place();
    const process = Bun.spawn(["bun", hostProcess, place.url, place.home, place.endpoint], { stderr: "inherit" });
    const id = await all.start({ write: "not stored", hang: true });
    await until(() => there(join(place.home, "hangs")));
    process.kill("SIGKILL");
    await process.exited;
    await all.engine.cancel(id);
    const again = await all.open(place);
    again.work();
    expect(await all.ended(await all.start({}))).toEqual({ home: place.home, found: "not stored", notice: null });
  }, 60_000);

  test("while its files cannot be stored a machine goes on holding a conversation; then it lets it go", async () => {
    await using all = await cluster();
    const [one, other] = [await all.open(), await all.open()];
    one.work();
    all.s3.failNext("PUT", 400, 1_000);
    await all.ended(await all.start({ write: "by one" }));
    other.work();
    expect(await all.ended(await all.start({}))).toMatchObject({ home: one.home, found: "by one" });
    all.s3.failNone();
    await using sql = new Bun.SQL({ url: one.url, max: 1, connection: { search_path: "manyhands" } });
    await until(async () => (await sql`SELECT FROM conversations WHERE holder IS NOT NULL`).length === 0);
    await one.engine.close();
    expect(await all.ended(await all.start({}))).toEqual({ home: other.home, found: "by one", notice: null });
  }, 60_000);

  test("a deleted conversation is gone from the bucket and from every machine, and begins anew", async () => {
    await using all = await cluster();
    const one = await all.open();
    one.work();
    const ids = [await all.start({ write: "by one" })];
    await all.ended(ids[0] ?? "");
    await one.engine.close();
    const other = await all.open();
    other.work();
    ids.push(await all.start({}));
    await all.ended(ids[1] ?? "");
    const filesOf = (at: { home: string; endpoint: string }, engine: Engine) =>
      openHomeFiles(
        { home: at.home, bucket: bucketAt(at.endpoint) },
        { artifacts: createArtifactStore(join(at.home, "artifacts")), engine },
      );
    const files = filesOf(other, other.engine);
    const emptied = (conversations: Parameters<typeof files.detach>[0][]) => conversations.forEach(files.detach);
    await until(async () => (await all.engine.get(ids[1] ?? ""))?.status === "completed");
    await all.engine.delete({ runIds: ids, emptied: (gone) => emptied([...gone]) });
    await files.clear();
    expect([...all.s3.objects.keys()]).toEqual([]);
    expect(await all.engine.conversations?.gone()).toEqual([]);
    // The other copy, which its machine sweeps.
    const folders = async () => (await readdir(join(one.home, "workspaces"))).filter((name) => !name.startsWith("."));
    expect(await folders()).toHaveLength(1);
    await filesOf(one, all.engine).dropCopies(async () => new Set());
    expect(await folders()).toEqual([]);
    expect(await all.ended(await all.start({}))).toMatchObject({ found: null, notice: null });
  }, 60_000);

  test("what retention lets go is gone from the bucket too, unless it was used since", async () => {
    await using all = await cluster();
    const one = await all.open();
    one.work();
    await all.ended(await all.start({ write: "by one" }));
    await one.engine.close();
    const files = openHomeFiles(
      { home: one.home, bucket: bucketAt(one.endpoint) },
      { artifacts: createArtifactStore(join(one.home, "artifacts")), engine: all.engine },
    );
    const later = Date.now() + 60_000;
    expect(await files.oldWorkspaces(1, 10, new Set())).toEqual([]);
    const [name = ""] = await files.oldWorkspaces(later, 10, new Set());
    expect(await files.oldWorkspaces(later, 10, new Set([name]))).toEqual([]);
    expect(await files.detachOld(name, 1)).toBe(false);
    expect(await files.detachOld(name, later)).toBe(true);
    await files.clear();
    expect([...all.s3.objects.keys()]).toEqual([]);
  }, 60_000);
}
