import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { homeMark } from "manyhands/internal/http/home-mark";
import { isNowhere, isUp, isUsable, whoAnswers } from "./is-up.ts";

const config = await loadConfig({ cwd: "/", env: {} });

test("a server that is slow to answer is up; one that is not running or not healthy is not", async () => {
  await using slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch() {
      await Bun.sleep(3000);
      return new Response("ready");
    },
  });
  await using unhealthy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("the disk is full", { status: 503 }),
  });
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const nowhere = gone.url.origin;
  await gone.stop();
  expect(await Promise.all([slow.url.origin, unhealthy.url.origin, nowhere].map((url) => isUp(url, config)))).toEqual([
    true,
    false,
    false,
  ]);
});

test("whether a server that is silent is up cannot be told, so that none is started beside it", async () => {
  await using silent = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => {}),
  });
  await expect(isUp(silent.url.origin, config)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("has not answered for 15 s"),
  });
});

test("only an agent that could be started here is nowhere: not one of another machine, and not one without an entry", async () => {
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const here = gone.url.origin;
  await gone.stop();
  const { manus } = config.agents;
  if (manus === undefined) throw new Error("manus is one of the agents");
  const nowhere = (url: string) => isNowhere("manus", { ...config, agents: { manus: { ...manus, url } } });
  // An address of a network for documents, where nothing is.
  expect([await nowhere(here), await nowhere("http://192.0.2.1:4101")]).toEqual([true, false]);
  const remote = { ...manus, url: here, entry: undefined };
  expect(await isNowhere("manus", { ...config, agents: { manus: remote } })).toBe(false);
});

test("what answers at a server's own port is used only if it is of this home, and the person is told of others", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-home-"));
  const told: Record<string, object | string> = {
    ours: { agent: "manus", home: homeMark(home) },
    former: { agent: "manus" },
    other: { agent: "manus", home: homeMark(tmpdir()) },
    stranger: "ready",
  };
  const found: unknown[] = [];
  for (const [name, answer] of Object.entries(told)) {
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => (typeof answer === "string" ? new Response(answer) : Response.json(answer)),
    });
    const { manus } = config.agents;
    if (manus === undefined) throw new Error("manus is one of the agents");
    const at = (port: number) => ({
      ...config,
      home,
      agents: { manus: { ...manus, port, url: server.url.origin } },
    });
    const said: string[] = [];
    const own = await isUsable("manus", at(Number(server.port)), { say: (text) => void said.push(text) });
    // An address that was set leads to whoever is there.
    const set = await isUsable("manus", at(9));
    found.push([name, await whoAnswers(server.url.origin, { ...config, home }), own, set, said.length]);
  }
  expect(found).toEqual([
    ["ours", "ours", true, true, 0],
    ["former", "ours", true, true, 0],
    ["other", "another home", false, true, 1],
    ["stranger", "no Manyhands", false, true, 1],
  ]);
  // Where homes share a store, each one's servers serve the other's runs.
  const engine = { kind: "postgres" } as never;
  await using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(told.other) });
  expect(await whoAnswers(other.url.origin, { ...config, home, engine })).toBe("ours");
  await rm(home, { recursive: true });
});
