import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import { silentLog } from "../../core/runs/engine.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../testing/durable/postgres-process.ts";
import { openEngine, openStore, probeEngine } from "./open-engine.ts";

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

/** An answer to every look at Restate's health, by path. */
function healthServer(answers: Record<string, number>) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(null, { status: answers[new URL(url).pathname] ?? 404 }),
  });
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}

if (postgresPrograms === undefined) test.skip(noPostgres, () => undefined);
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
    expect(await probeEngine(one.config)).toMatch(/\(version \d+/);
  });

  test("Restate is there once its admin and every ingress say so, and one that does not is named", async () => {
    const url = await server.createDatabase();
    await using good = healthServer({ "/health": 200, "/restate/health": 200 });
    await using half = healthServer({ "/health": 503, "/restate/health": 503 });
    const probe = async (admin: string, ...ingress: string[]) => {
      const { config } = await configured({
        ...{ MANYHANDS_ENGINE_KIND: "restate", MANYHANDS_ENGINE_URL: url },
        MANYHANDS_ENGINE_RESTATE_ADMIN: admin,
        MANYHANDS_ENGINE_RESTATE_INGRESS: ingress.join(","),
      });
      return probeEngine(config);
    };
    expect(await probe(good.url, good.url)).toMatch(/\(version \d+/);
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
}
