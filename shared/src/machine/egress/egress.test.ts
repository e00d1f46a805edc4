import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { hasOpenssl, testAuthority } from "../../testing/certificates.ts";
import { createEgress } from "./egress.ts";
import type { EgressRequest } from "./fetch-within.ts";
import type { EgressPolicy } from "./policy.ts";

const seen: { host: string | null; path: string; authorization: string | null }[] = [];
let letGo: () => void = () => undefined;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  // It never ends what it is silent about.
  idleTimeout: 0,
  async fetch(request) {
    const url = new URL(request.url);
    const { searchParams } = url;
    seen.push({
      host: request.headers.get("host"),
      path: url.pathname,
      authorization: request.headers.get("authorization"),
    });
    if (url.pathname === "/to")
      return new Response(null, {
        status: Number(searchParams.get("status") ?? 302),
        headers: { location: searchParams.get("url") ?? "" },
      });
    if (url.pathname === "/page-and-redirect")
      return new Response(new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(64_000)), cancel: letGo }), {
        status: 302,
        headers: { location: "/there" },
      });
    if (url.pathname === "/loop") return Response.redirect("/loop");
    if (url.pathname === "/gzip") return compressed(Bun.gzipSync(Buffer.from("squeezed")), "gzip");
    if (url.pathname === "/bomb") return compressed(Bun.gzipSync(Buffer.alloc(50_000_000)), "gzip");
    if (url.pathname === "/br")
      return compressed(Buffer.from((await import("node:zlib")).brotliCompressSync("squeezed")), "br");
    if (url.pathname === "/deflate") return compressed((await import("node:zlib")).deflateSync("squeezed"), "deflate");
    if (url.pathname === "/x-gzip") return compressed(Bun.gzipSync(Buffer.from("squeezed")), " X-GZip ");
    if (url.pathname === "/headers") return Response.json(Object.fromEntries(request.headers));
    if (url.pathname === "/exotic") return compressed(Buffer.from("x"), "snappy");
    if (url.pathname === "/broken") return compressed(Buffer.from("not gzip"), "gzip");
    if (url.pathname === "/silent") return new Promise<Response>(() => undefined);
    if (url.pathname === "/stuck")
      return new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(9)) }));
    if (url.pathname === "/endless") return new Response(endless());
    if (url.pathname === "/post") return new Response(`${request.method} ${await request.text()}`);
    return new Response(`hello from ${url.pathname}`);
  },
});
afterAll(() => server.stop(true));

const base = `http://127.0.0.1:${server.port}`;
const policy: EgressPolicy = { allow: [`127.0.0.1:${server.port}`], deny: [], only: [] };
const never = new AbortController().signal;

const get = (url: string, more: Partial<EgressRequest> = {}, egress = createEgress(policy)) =>
  egress.fetch({ url, signal: never, timeoutMs: 5_000, maxBytes: 100_000, ...more });
const text = async (...args: Parameters<typeof get>) => new TextDecoder().decode((await get(...args)).body);
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error) => (error instanceof AppError ? error.code : `not an AppError: ${error}`),
  );

test("bodies are decompressed", async () => {
  expect(await text(`${base}/gzip`)).toBe("squeezed");
  expect(await text(`${base}/br`)).toBe("squeezed");
  expect(await text(`${base}/deflate`)).toBe("squeezed");
  expect(await text(`${base}/x-gzip`)).toBe("squeezed");
  expect(await text(`${base}/plain`)).toBe("hello from /plain");
});

test("a body makes it a POST, which is not redirected", async () => {
  expect(await text(`${base}/post`, { body: "für" })).toBe("POST für");
  expect(await codeOf(get(`${base}/to?url=/post`, { body: "x" }))).toBe("unavailable");
});

test("a body that grows beyond the limit is abandoned, even if it was small on the wire", async () => {
  expect(await codeOf(get(`${base}/bomb`))).toBe("too_large");
  expect(await codeOf(get(`${base}/endless`))).toBe("too_large");
});

test("a body that cannot be decoded or a host that cannot be reached is reported", async () => {
  expect(await codeOf(get(`${base}/exotic`))).toBe("unavailable");
  expect(await codeOf(get(`${base}/broken`))).toBe("unavailable");
  const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = closed.port;
  await closed.stop(true);
  const egress = createEgress({ ...policy, allow: [`127.0.0.1:${port}`] });
  expect(await codeOf(get(`http://127.0.0.1:${port}/`, {}, egress))).toBe("unavailable");
});

test("silence ends at the time limit, an abort with its own reason", async () => {
  expect(await codeOf(get(`${base}/silent`, { timeoutMs: 100 }))).toBe("timeout");
  // The body counts too.
  expect(await codeOf(get(`${base}/stuck`, { timeoutMs: 100 }))).toBe("timeout");
  const control = new AbortController();
  const reason = new Error("enough");
  const before = seen.length;
  const pending = get(`${base}/silent`, { signal: control.signal, timeoutMs: 600_000 });
  while (seen.length === before) await Bun.sleep(1);
  control.abort(reason);
  expect(await pending.catch((error) => error)).toBe(reason);
});

test("a failure names the host and the reason, and a redirect too many where it led, cut", async () => {
  const messageOf = (promise: Promise<unknown>) =>
    promise.then(
      () => "none",
      (error: Error) => error.message,
    );
  const { host } = new URL(base);
  expect(await messageOf(get(`${base}/silent`, { timeoutMs: 100 }))).toBe(
    `${host} did not answer in full within 0.1 s.`,
  );
  expect(await messageOf(get(`${base}/broken`))).toStartWith(`The request to ${host} failed: `);
  const far = `/${"x".repeat(300)}`;
  expect(await messageOf(get(`${base}/to?url=${base}/to?url=${far}`, { maxRedirects: 1 }))).toBe(
    `${host} answered with a redirect too many, to ${far.slice(0, 200)}.`,
  );
  expect(await messageOf(get(`${base}/bomb`))).toBe(`The answer of ${host} is larger than the 0.1 MB that are read.`);
  expect(await messageOf(get(`${base}/exotic`))).toBe(`${host} answered in the encoding snappy, which cannot be read.`);
  // A place that is not a URL is the server's mistake, and names the place.
  expect(await codeOf(get(`${base}/to?url=${encodeURIComponent("http://[")}`))).toBe("invalid_input");
});

test("redirects are followed, checked at every hop and counted", async () => {
  const found = await get(`${base}/to?url=/there`);
  expect(found.url.href).toBe(`${base}/there`);
  const before = seen.length;
  expect(await codeOf(get(`${base}/loop`))).toBe("unavailable");
  expect(seen.length - before).toBe(6);
  expect(await get(`${base}/to?url=/there`, { maxRedirects: 0 })).toMatchObject({ status: 302 });
  for (const target of [
    "http://10.0.0.1/",
    "http://169.254.169.254/",
    "http://localhost:1/",
    "file:///etc/passwd",
    "http://a:b@127.0.0.1/",
  ])
    expect(await codeOf(get(`${base}/to?url=${encodeURIComponent(target)}`))).toBe("forbidden");
});

test("the page that comes with a redirect is let go of, however long it is", async () => {
  const released = new Promise<void>((done) => {
    letGo = done;
  });
  expect((await get(`${base}/page-and-redirect`, { timeoutMs: 600_000 })).url.pathname).toBe("/there");
  await released;
});

test("names of this machine are refused", async () => {
  for (const host of ["localhost", "localhost."])
    expect(await codeOf(get(`http://${host}:${server.port}/`))).toBe("forbidden");
});

test("a name with one private address among public ones is refused, and one without addresses is not found", async () => {
  const egress = (addresses: string[]) => createEgress(policy, { resolve: async () => addresses });
  expect(await codeOf(get("http://mixed.example/", {}, egress(["8.8.8.8", "127.0.0.1"])))).toBe("forbidden");
  expect(await codeOf(get("http://mapped.example/", {}, egress(["::ffff:127.0.0.1"])))).toBe("forbidden");
  expect(await codeOf(get("http://nat64.example/", {}, egress(["64:ff9b::7f00:1"])))).toBe("forbidden");
  expect(await codeOf(get("http://none.example/", {}, egress([])))).toBe("unavailable");
});

test("the name is resolved once per hop, and the checked address is the one connected to", async () => {
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  let asked = 0;
  const named = { ...policy, allow: [`rebind.example:${server.port}`] };
  const egress = createEgress(named, { resolve: async () => answers[asked++] ?? [] });
  expect(await text(`http://rebind.example:${server.port}/here`, {}, egress)).toBe("hello from /here");
  expect(asked).toBe(1);
  expect(seen.at(-1)).toMatchObject({ host: `rebind.example:${server.port}`, path: "/here" });
});

test("a name that turns private between two requests is refused at the second", async () => {
  let asked = 0;
  const before = seen.length;
  const egress = createEgress(
    { ...policy, allow: [] },
    { resolve: async () => (asked++ === 0 ? ["192.0.2.1", "127.0.0.1"] : ["127.0.0.1"]) },
  );
  for (let round = 0; round < 2; round++)
    expect(await codeOf(get(`http://rebind.example:${server.port}/`, {}, egress))).toBe("forbidden");
  expect(seen).toHaveLength(before);
});

test("credentials do not follow to another origin", async () => {
  const egress = createEgress(
    { ...policy, allow: [...policy.allow, `other.example:${server.port}`] },
    { resolve: async () => ["127.0.0.1"] },
  );
  const other = encodeURIComponent(`http://other.example:${server.port}/secret`);
  await get(`${base}/to?url=${other}`, { headers: { authorization: "Bearer key" } }, egress);
  expect(seen.at(-2)?.authorization).toBe("Bearer key");
  expect(seen.at(-1)).toMatchObject({ path: "/secret", authorization: null });
});

test("credentials do not follow to another port of the same host either, and do within the origin", async () => {
  const elsewhere: (string | null)[] = [];
  const other = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      elsewhere.push(request.headers.get("authorization"), request.headers.get("cookie"));
      return new Response("there");
    },
  });
  try {
    const wider = createEgress({ ...policy, allow: [...policy.allow, `127.0.0.1:${other.port}`] });
    const headers = { authorization: "Bearer key", cookie: "a=1" };
    await get(`${base}/to?url=${encodeURIComponent(`http://127.0.0.1:${other.port}/x`)}`, { headers }, wider);
    expect(elsewhere).toEqual([null, null]);
    await get(`${base}/to?url=${encodeURIComponent(`${base}/secret`)}`, { headers }, wider);
    expect(seen.at(-1)).toMatchObject({ path: "/secret", authorization: "Bearer key" });
  } finally {
    await other.stop(true);
  }
});

test.skipIf(!hasOpenssl)("credentials do not follow from https to http at the same host and port", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-egress-"));
  await (await testAuthority(folder)).issue("server", { names: "IP:127.0.0.1" });
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "server.pem", "server.key"].map((name) => Bun.file(join(folder, name)).text()),
  );
  await using secure = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: cert ?? "", key: key ?? "" },
    fetch: ({ url }) => Response.redirect(url.replace("https:", "http:")),
  });
  // One port for both: TLS begins with the byte 22.
  const both = createServer((client) =>
    client.once("data", (head) => {
      const target = connect(head[0] === 22 ? (secure.port ?? 0) : (server.port ?? 0), "127.0.0.1");
      target.write(head);
      client.pipe(target).pipe(client);
      const close = () => {
        client.destroy();
        target.destroy();
      };
      client.on("error", close);
      target.on("error", close);
    }),
  );
  await new Promise<void>((listening) => both.listen(0, "127.0.0.1", listening));
  try {
    const host = `127.0.0.1:${(both.address() as AddressInfo).port}`;
    const egress = createEgress({ ...policy, allow: [host] }, { tls: async () => ({ ca: [ca ?? ""], names: [] }) });
    const { url } = await get(`https://${host}/x`, { headers: { authorization: "Bearer key" } }, egress);
    expect(url.href).toBe(`http://${host}/x`);
    expect(seen.at(-1)).toMatchObject({ path: "/x", authorization: null });
  } finally {
    both.close();
    await rm(folder, { recursive: true });
  }
});

test("of a request's headers another origin gets those that any visitor sends, the same origin gets all", async () => {
  const egress = createEgress(
    { ...policy, allow: [...policy.allow, `other.example:${server.port}`] },
    { resolve: async () => ["127.0.0.1"] },
  );
  const common = { accept: "text/x", "accept-language": "de", "user-agent": "tester" };
  const headers = { ...common, authorization: "Bearer key", cookie: "a=1", "x-own": "1", referer: "http://r.example/" };
  const received = async (target: string) =>
    JSON.parse(await text(`${base}/to?url=${encodeURIComponent(target)}`, { headers }, egress));
  expect(await received(`${base}/headers`)).toMatchObject(headers);
  const plain = { headers: { "accept-encoding": "identity" } };
  expect(JSON.parse(await text(`${base}/headers`, plain))).toMatchObject(plain.headers);
  const elsewhere = await received(`http://other.example:${server.port}/headers`);
  expect(elsewhere).toMatchObject({ ...common, "accept-encoding": "gzip, br, deflate" });
  expect(Object.keys(elsewhere).filter((name) => name in headers && !(name in common))).toEqual([]);
});

test.each([301, 302, 303, 307, 308])("%d is a redirect", async (status) => {
  expect((await get(`${base}/to?status=${status}&url=/there`)).url.pathname).toBe("/there");
});

test.each([200, 300, 404])("%d with a location is an answer", async (status) => {
  expect((await get(`${base}/to?status=${status}&url=/there`)).status).toBe(status);
});

test("as many redirects are followed as a request allows, and each hop is admitted before it is made", async () => {
  const twice = `${base}/to?url=${encodeURIComponent("/to?url=/there")}`;
  expect((await get(twice, { maxRedirects: 2 })).url.pathname).toBe("/there");
  expect(await codeOf(get(twice, { maxRedirects: 1 }))).toBe("unavailable");
  const hops: string[] = [];
  const before = seen.length;
  const refusing = get(twice, {
    admit: async ({ pathname }) => {
      hops.push(pathname);
      if (hops.length === 2) throw new AppError("forbidden", "not there");
    },
  });
  expect(await codeOf(refusing)).toBe("forbidden");
  expect([hops, seen.length - before]).toEqual([["/to", "/to"], 1]);
});

test("a body may be exactly as long as the limit, compressed or not", async () => {
  const long = "hello from /plain".length;
  expect(await text(`${base}/plain`, { maxBytes: long })).toBe("hello from /plain");
  expect(await codeOf(get(`${base}/plain`, { maxBytes: long - 1 }))).toBe("too_large");
  expect(await text(`${base}/gzip`, { maxBytes: 8 })).toBe("squeezed");
  expect(await codeOf(get(`${base}/gzip`, { maxBytes: 7 }))).toBe("too_large");
});

test("a configured proxy is used, and the policy applies before it", async () => {
  const asked: string[] = [];
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      asked.push(request.url);
      const isPacked = request.url.endsWith("/packed");
      return isPacked
        ? new Response(Bun.gzipSync("squeezed"), { headers: { "Content-Encoding": "gzip" } })
        : new Response("by proxy");
    },
  });
  try {
    const egress = createEgress(policy, {
      proxy: proxy.url.href,
      resolve: async (host) => (host === "inside.example" ? ["10.0.0.1"] : ["8.8.8.8"]),
    });
    expect(await text("http://outside.example/page", {}, egress)).toBe("by proxy");
    expect(await text("http://outside.example/packed", {}, egress)).toBe("squeezed");
    expect(await codeOf(get("http://inside.example/", {}, egress))).toBe("forbidden");
    expect(await codeOf(get("http://10.0.0.1/", {}, egress))).toBe("forbidden");
    expect(asked).toHaveLength(2);
  } finally {
    await proxy.stop(true);
  }
});

function compressed(body: Uint8Array<ArrayBuffer>, encoding: string): Response {
  return new Response(body, { headers: { "content-encoding": encoding } });
}

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(64_000)) });
}
