import { expect, test } from "bun:test";
import { fetchServer, readOf } from "./fetch-server.ts";

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

test("an answer that begins and then stays away, or breaks off, is a server that did not answer", async () => {
  await using slow = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
    fetch: ({ url }) =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(Buffer.from("{"));
            if (url.endsWith("/broken")) setTimeout(() => controller.error(new Error("broken")), 50);
          },
        }),
      ),
  });
  const { origin } = slow.url;
  const reasonOf = async (path: string, signal: AbortSignal) => {
    const response = await fetchServer(`${origin}${path}`, { signal });
    return readOf({ url: origin }, signal, () => response.bytes()).catch((error) => error);
  };
  expect(await reasonOf("/late", AbortSignal.timeout(200))).toMatchObject({
    code: "unavailable",
    message: `${origin} did not answer in time.`,
  });
  expect(await reasonOf("/broken", AbortSignal.timeout(10_000))).toMatchObject({
    code: "unavailable",
    message: `${origin} cannot be reached.`,
  });
  const leaving = new AbortController();
  const left = reasonOf("/left", leaving.signal);
  setTimeout(() => leaving.abort(new RangeError("enough")), 100);
  expect(await left).toBe(leaving.signal.reason);
  await slow.stop(true);
});
