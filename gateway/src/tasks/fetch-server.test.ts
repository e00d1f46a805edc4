import { expect, test } from "bun:test";
import { fetchServer } from "./fetch-server.ts";

test("a missing or late server is unavailable; an aborted request rejects with its own reason", async () => {
  await using slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => undefined),
  });
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const nowhere = gone.url.origin;
  await gone.stop();
  const reasonOf = (url: string, signal: AbortSignal) => fetchServer(url, { signal }).catch((error) => error);
  const { origin } = slow.url;
  expect(await reasonOf(nowhere, AbortSignal.timeout(60_000))).toMatchObject({
    code: "unavailable",
    message: `${nowhere} cannot be reached.`,
  });
  expect(await reasonOf(`${origin}/x`, AbortSignal.timeout(100))).toMatchObject({
    code: "unavailable",
    message: `${origin} did not answer in time.`,
  });
  const enough = new RangeError("enough");
  expect(await reasonOf(origin, AbortSignal.abort(enough))).toBe(enough);
  await slow.stop(true);
});
