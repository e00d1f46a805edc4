import { expect, test } from "bun:test";
import { loadConfig } from "manyhands/internal/config/config";
import { isUp } from "./is-up.ts";

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
