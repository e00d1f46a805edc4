import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasOpenssl, testAuthority } from "../testing/certificates.ts";
import { ownAddress, serve } from "./serve.ts";

test("it listens on loopback, finishes running requests, answers no new one and closes its resources, once", async () => {
  const { promise: release, resolve } = Promise.withResolvers<Response>();
  const closed: string[] = [];
  const served = serve(
    { fetch: ({ url }) => (url.endsWith("/slow") ? release : new Response("ok")) },
    { port: 0, close: async () => void closed.push("engine") },
  );
  expect(served.url.hostname).toBe("127.0.0.1");
  const slow = fetch(new URL("/slow", served.url));
  expect(await (await fetch(served.url)).text()).toBe("ok");
  const stopped = Promise.all([served.stop(), served.stop()]);
  await expect(fetch(new URL("/readyz", served.url))).rejects.toThrow();
  expect(closed).toEqual([]);
  resolve(new Response("finished"));
  expect(await (await slow).text()).toBe("finished");
  await stopped;
  expect(closed).toEqual(["engine"]);
  expect(fetch(served.url)).rejects.toThrow();
});

test("it has stopped only when what it closes is closed, and leaves no handler of signals behind", async () => {
  const before = [process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")];
  const steps: string[] = [];
  const step = async (name: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(name);
  };
  using listening = spyOn(Bun, "serve");
  const served = serve(
    { fetch: () => new Response("ok") },
    { port: 0, drain: (graceMs) => step(`drained in ${graceMs}`), close: () => step("closed"), graceMs: 70 },
  );
  // A stream may be silent for longer than any timeout while a model thinks.
  expect(listening.mock.calls[0]?.[0]).toMatchObject({ idleTimeout: 0 });
  await served.stop();
  expect(steps).toEqual(["drained in 70", "closed"]);
  expect([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")]).toEqual(before);
});

test("requests that cannot be let finish keep nothing open", async () => {
  const closed: string[] = [];
  const served = serve(
    { fetch: () => new Response("ok") },
    { port: 0, drain: () => Promise.reject(new Error("it stays")), close: async () => void closed.push("engine") },
  );
  await expect(served.stop()).rejects.toThrow("it stays");
  expect(closed).toEqual(["engine"]);
});

test("a connection is closed when it has been silent for a while, not while it waits for an answer or reads a stream", async () => {
  const released = Promise.withResolvers<void>();
  const stream = new ReadableStream({
    async start(controller) {
      controller.enqueue("begun ");
      await released.promise;
      controller.enqueue("over");
      controller.close();
    },
  });
  const app = {
    async fetch({ url }: Request) {
      if (url.endsWith("/stream")) return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
      if (url.endsWith("/waits")) await released.promise;
      return new Response("ok");
    },
  };
  const served = serve(app, { port: 0, idleSeconds: 1 });
  const [idle, unfinished, waiting, reading] = await Promise.all(
    ["GET / ", "POST / ", "GET /waits ", "GET /stream "].map((line) => connected(served.url, line)),
  );
  await Promise.all([idle?.closed, unfinished?.closed]);
  expect([idle?.heard(), unfinished?.heard()]).toEqual([expect.stringMatching(/ok$/), expect.stringMatching(/ok$/)]);
  released.resolve();
  await waiting?.closed;
  expect(waiting?.heard()).toEndWith("ok");
  while (!reading?.heard().includes("over")) await Bun.sleep(5);
  await served.stop();
});

/** A connection that sends a request, with a body of which the end never comes if it is a POST. */
async function connected({ hostname, port }: URL, line: string) {
  const closed = Promise.withResolvers<void>();
  let heard = "";
  const length = line.startsWith("POST") ? "Content-Length: 10\r\n\r\nhalf" : "\r\n";
  const socket = {
    data(_: unknown, bytes: Buffer) {
      heard += bytes.toString();
    },
    close: () => closed.resolve(),
  };
  const connection = await Bun.connect({ hostname, port: Number(port), socket });
  connection.write(`${line}HTTP/1.1\r\nHost: a\r\n${length}`);
  return { closed: closed.promise, heard: () => heard };
}

test.each([
  ["127.0.0.1", "127.0.0.1", "127.0.0.1"],
  ["::1", "::1", "::1"],
  ["0.0.0.0", "10.0.0.7", "0.0.0.0"],
  ["localhost", "::1", "::1"],
  ["localhost", "127.0.0.1", "127.0.0.1"],
])("a server on %s has been reached by %s at %s", (host, client, address) => {
  expect(ownAddress(host, client)).toBe(address);
});

test("a connection whose client is gone has nobody who could be known, so its request is refused unread", async () => {
  const seen: string[] = [];
  using listening = spyOn(Bun, "serve");
  const ends: unknown[] = [];
  const guard = (...of: unknown[]) => {
    seen.push("guard");
    ends.push(of);
    return undefined;
  };
  const app = () => {
    seen.push("app");
    return new Response("ok");
  };
  const served = serve({ fetch: app }, { port: 0, guard });
  type Handled = { fetch(request: Request, server: object): Promise<Response> };
  const [{ fetch: handle } = {} as Handled] = listening.mock.calls.map(([options]) => options as unknown as Handled);
  const timeout = () => undefined;
  const there = { timeout, requestIP: () => ({ address: "127.0.0.1", port: 9 }), hostname: "127.0.0.1", port: 1 };
  const statusOf = async (server: object) => (await handle(new Request(served.url.href), server)).status;
  expect([await statusOf({ ...there, requestIP: () => null }), seen]).toEqual([401, []]);
  expect([await statusOf(there), seen]).toEqual([200, ["guard", "app"]]);
  await statusOf({ ...there, hostname: "[::1]", requestIP: () => ({ address: "::1", port: 9 }) });
  const between = (address: string) => [
    { address, port: 9 },
    { address, port: 1 },
  ];
  expect(ends).toEqual([between("127.0.0.1"), between("::1")]);
  await served.stop();
});

test("a request that does not end is cut off after the grace period", async () => {
  const served = serve({ fetch: () => new Promise<Response>(() => undefined) }, { port: 0, graceMs: 50 });
  const hanging = fetch(served.url).then(
    () => "answered",
    () => "cut",
  );
  await Bun.sleep(20);
  const before = performance.now();
  await served.stop();
  expect(await hanging).toBe("cut");
  expect(performance.now() - before).toBeLessThan(30_000);
});

test.skipIf(!hasOpenssl)("with an authority for clients, who has no certificate of it is not answered", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-serve-"));
  const authority = await testAuthority(folder);
  for (const name of ["server", "client"]) await authority.issue(name, { names: "IP:127.0.0.1" });
  const read = (name: string) => Bun.file(join(folder, name)).text();
  const [ca, cert, key] = await Promise.all(["ca.pem", "server.pem", "server.key"].map(read));
  const [shown, secret] = await Promise.all(["client.pem", "client.key"].map(read));
  await rm(folder, { recursive: true });
  const tls = { cert: cert ?? "", key: key ?? "", clientCa: ca };
  const served = serve({ fetch: () => new Response("ok") }, { port: 0, tls });
  expect(served.url.protocol).toBe("https:");
  const asked = (own: object) => fetch(served.url, { tls: { ca: ca ?? "", ...own } });
  expect(await (await asked({ cert: shown, key: secret })).text()).toBe("ok");
  await expect(asked({})).rejects.toThrow();
  await served.stop();
});

test("a port that another process listens on is refused, not shared", async () => {
  const server = child();
  try {
    const { url } = await address(server);
    const taken = { port: Number(new URL(url).port) };
    expect(() => serve({ fetch: () => new Response("mine") }, taken)).toThrow(`Is port ${taken.port} in use?`);
  } finally {
    server.kill();
    await server.exited;
  }
});

/** A process that serves and prints its address; `/broken` rejects. */
function child() {
  const code = `
    import { serve } from ${JSON.stringify(import.meta.resolve("./serve.ts"))};
    const fetch = ({ url }) => url.endsWith("/broken") ? Promise.reject(new Error("secrets")) : new Response("ok");
    const { url } = serve({ fetch }, { port: 0, close: async () => console.log("closed") });
    console.log(url.href);`;
  return Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "ignore" });
}

async function address(server: ReturnType<typeof child>) {
  const reader = server.stdout.getReader();
  const line = async () => new TextDecoder().decode((await reader.read()).value).trim();
  return { url: await line(), line };
}

test("SIGTERM stops a process that serves, with exit code 0", async () => {
  const server = child();
  try {
    const { url, line } = await address(server);
    expect(await (await fetch(url)).text()).toBe("ok");
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    expect(await line()).toBe("closed");
  } finally {
    server.kill();
  }
});

test("SIGINT stops it too", async () => {
  const server = child();
  try {
    const { line } = await address(server);
    server.kill("SIGINT");
    expect(await server.exited).toBe(0);
    expect(await line()).toBe("closed");
  } finally {
    server.kill();
  }
});

test("an uncaught error reveals nothing", async () => {
  const server = child();
  try {
    const { url } = await address(server);
    const broken = await fetch(new URL("/broken", url));
    expect(broken.status).toBe(500);
    expect(await broken.text()).not.toContain("secrets");
  } finally {
    server.kill();
    await server.exited;
  }
});
