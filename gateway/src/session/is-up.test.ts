import { expect, test } from "bun:test";
import { loadConfig } from "manyhands/internal/config/config";
import { isNowhere, isUp } from "./is-up.ts";

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
