import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import { type Engine, silentLog } from "../../core/runs/engine.ts";
import * as postgres from "../../durable/postgres/postgres-engine.ts";
import * as restate from "../../durable/restate/restate-engine.ts";
import * as embedded from "../../durable/sqlite/embedded-engine.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../testing/durable/postgres-process.ts";
import { skipped } from "../../testing/durable/skipped.ts";
import { openEngine, openStore, probeEngine } from "./open-engine.ts";
import { openShared } from "./open-shared.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-open-engine-"));
afterAll(() => rm(folder, { recursive: true }));

async function configured(env: Record<string, string> = {}) {
  const home = await mkdtemp(join(folder, "home-"));
  return { home, config: await loadConfig({ cwd: home, env: { MANYHANDS_HOME: home, ...env } }) };
}
const options = { log: silentLog, port: 0 };
const request = { kind: "manus", input: null, principal: "ann", contextId: "c" } as const;

test("looking at the runs of a home makes no store, and finds those of its server", async () => {
  const { home, config } = await configured();
  expect(await openStore(config)).toBeUndefined();
  expect(await readdir(home)).toEqual([]);
  const engine = await openEngine(config, options);
  const { id } = (await engine.start(request)).run;
  const store = await openStore(config);
  expect(await store?.get(id)).toMatchObject({ id, kind: "manus" });
  await Promise.all([store?.close(), engine.close()]);
  expect(await readdir(home)).toContain("runs.db");
  expect(await probeEngine(config)).toContain(home);
});

test("a store that is no database is told of", async () => {
  const { home, config } = await configured();
  await writeFile(join(home, "runs.db"), "no database ".repeat(100));
  await expect(probeEngine(config)).rejects.toMatchObject({ code: "storage_unavailable" });
});

/** What the engines of these settings are made with, and whether their database is made ready. */
async function madeWith(env: Record<string, string>, port: number) {
  const { config } = await configured(env);
  const made: [string, unknown][] = [];
  const noting = (name: string) => (options: unknown) => {
    made.push([name, options]);
    return {} as Engine;
  };
  using _ = spyOn(postgres, "migratePostgres").mockImplementation(async ({ url, schema }) => {
    made.push(["migrated", { url, schema }]);
  });
  using __ = spyOn(postgres, "createPostgresEngine").mockImplementation(noting("postgres"));
  using ___ = spyOn(restate, "createRestateEngine").mockImplementation(noting("restate"));
  using _____ = spyOn(restate, "openRestateEngine").mockImplementation(async (options) => noting("restate")(options));
  using ____ = spyOn(embedded, "createEmbeddedEngine").mockImplementation(noting("embedded"));
  await openEngine(config, { log: silentLog, port });
  await openStore(config);
  return made;
}

test("an engine has all that the settings say of it, its server's log, and a place of its own for Restate", async () => {
  const url = "postgres://u:p@db.example/runs";
  const store = {
    MANYHANDS_ENGINE_URL: url,
    MANYHANDS_ENGINE_SCHEMA: "ours",
    MANYHANDS_ENGINE_CONNECTIONS: "7",
  };
  const migrated = ["migrated", { url, schema: "ours" }];
  const database = { url, schema: "ours", connections: 7 };
  const [first, ...second] = await madeWith({ MANYHANDS_ENGINE_KIND: "postgres", ...store }, 4_000);
  expect([first, ...second]).toMatchObject([
    migrated,
    ["postgres", { ...database, log: silentLog }],
    migrated,
    ["postgres", database],
  ]);
  const behind = {
    ...{ MANYHANDS_ENGINE_KIND: "restate", ...store },
    MANYHANDS_ENGINE_RESTATE_ADMIN: "http://restate.example:9070",
    MANYHANDS_ENGINE_RESTATE_INGRESS: "http://one.example:8080,http://two.example:8080",
    MANYHANDS_ENGINE_RESTATE_IDENTITY_KEYS: "publickeyv1_abc",
  };
  const there = {
    admin: "http://restate.example:9070",
    ingress: ["http://one.example:8080", "http://two.example:8080"],
    identityKeys: ["publickeyv1_abc"],
    host: "127.0.0.1",
    prefix: "ours",
  };
  const restates = async (more: Record<string, string>, port: number) =>
    (await madeWith({ ...behind, ...more }, port)).filter(([name]) => name === "restate").map(([, one]) => one);
  expect(await restates({}, 4_000)).toMatchObject([
    { ...database, log: silentLog, restate: { ...there, port: 5_000 } },
    { ...database, restate: { ...there, port: 0 } },
  ]);
  const told = { MANYHANDS_ENGINE_RESTATE_PORT: "9999", MANYHANDS_ENGINE_RESTATE_PUBLIC_URL: "http://us.example" };
  expect(await restates(told, 4_000)).toMatchObject(
    [9_999, 9_999].map((port) => ({ restate: { ...there, port, publicUrl: "http://us.example" } })),
  );
  expect(await madeWith({}, 0)).toMatchObject([["embedded", { log: silentLog }]]);
});

/** An answer to every look at Restate's health, by path. */
function healthServer(answers: Record<string, number>) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(null, { status: answers[new URL(url).pathname] ?? 404 }),
  });
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}

if (postgresPrograms === undefined) skipped(noPostgres);
else {
  const server = await startPostgres();
  afterAll(() => server[Symbol.asyncDispose]());

  test("runs in a shared database are looked at there, and it is told with its version", async () => {
    const env = { MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: await server.createDatabase() };
    const [one, other] = [await configured(env), await configured(env)];
    const engine = await openEngine(one.config, options);
    const { id } = (await engine.start(request)).run;
    const store = await openStore(other.config);
    expect(await store?.get(id)).toMatchObject({ id });
    await Promise.all([store?.close(), engine.close()]);
    expect(await readdir(one.home)).not.toContain("runs.db");
    expect(await probeEngine(one.config)).toMatch(
      /\(version \d+.*; of its 200 connections each server takes up to 16\)$/,
    );
  });

  test("a secret key that does not open what the database keeps sealed is told, and looking makes nothing", async () => {
    const env = { MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: await server.createDatabase() };
    const keyed = async (key: string, others = "") =>
      (await configured({ ...env, MANYHANDS_ENGINE_SECRET_KEY: key, MANYHANDS_ENGINE_OTHER_SECRET_KEYS: others }))
        .config;
    const [right, wrong] = ["the key of all of its servers has 32", "another one that has 32 as well as that"];
    expect(await probeEngine(await keyed(right))).toMatch(/\(version \d+/);
    await using sql = new Bun.SQL({ url: env.MANYHANDS_ENGINE_URL, max: 1 });
    expect(await sql`SELECT nspname FROM pg_namespace WHERE nspname = 'manyhands'`).toHaveLength(0);
    const shared = await openShared(await keyed(right));
    await shared.agents.change(() => "known");
    await shared.profiles.text("main").change(() => "cookies");
    await shared.close();
    expect(await probeEngine(await keyed(right))).toMatch(/\(version \d+/);
    expect(await probeEngine(await keyed(wrong, right))).toMatch(/\(version \d+/);
    await expect(probeEngine(await keyed(wrong))).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining('as "agents" was sealed with another key than engine.secret_key'),
    });
  });

  test("Restate is there once its admin and every ingress say so, and one that does not is named", async () => {
    const url = await server.createDatabase();
    await using good = healthServer({ "/health": 200, "/restate/health": 200 });
    await using half = healthServer({ "/health": 503, "/restate/health": 503 });
    using limits = spyOn(AbortSignal, "timeout");
    const probe = async (admin: string, ...ingress: string[]) => {
      const { config } = await configured({
        ...{ MANYHANDS_ENGINE_KIND: "restate", MANYHANDS_ENGINE_URL: url },
        MANYHANDS_ENGINE_RESTATE_ADMIN: admin,
        MANYHANDS_ENGINE_RESTATE_INGRESS: ingress.join(","),
      });
      return probeEngine(config);
    };
    expect(await probe(good.url, good.url)).toMatch(/\(version \d+/);
    expect(limits.mock.calls).toEqual([[5_000], [5_000]]);
    for (const [admin, ingress, named] of [
      [half.url, [good.url], `${half.url}/health`],
      [good.url, [good.url, half.url], `${half.url}/restate/health`],
      [good.url, [good.url, "http://127.0.0.1:1"], "http://127.0.0.1:1/restate/health"],
    ] as const)
      await expect(probe(admin, ...ingress)).rejects.toMatchObject({
        code: "unavailable",
        message: `Restate does not answer at ${named}.`,
      });
  });

  test("a server whose port for Restate is taken says so before it starts; looking at its runs takes no port", async () => {
    const url = await server.createDatabase();
    await using taken = healthServer({});
    const { config } = await configured({
      ...{ MANYHANDS_ENGINE_KIND: "restate", MANYHANDS_ENGINE_URL: url },
      ...{ MANYHANDS_ENGINE_RESTATE_ADMIN: taken.url, MANYHANDS_ENGINE_RESTATE_INGRESS: taken.url },
      MANYHANDS_ENGINE_RESTATE_PORT: new URL(taken.url).port,
    });
    await expect(openEngine(config, options)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("set engine.restate.port"),
    });
    const store = await openStore(config);
    expect(await store?.get("none")).toBeUndefined();
    await store?.close();
  });
}
