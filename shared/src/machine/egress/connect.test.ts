import { afterAll, beforeAll, expect, test } from "bun:test";
import { lookup } from "node:dns/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasOpenssl, testAuthority } from "../../testing/certificates.ts";
import { connectByProxy, connectDirectly, type Hop, type RelayedResponse, type TlsOfServer } from "./connect.ts";
import { createEgress } from "./egress.ts";
import { startEgressProxy } from "./proxy.ts";
import { resolveBySystem } from "./resolve.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-connect-"));
const pem = (name: string) => Bun.file(join(folder, name)).text();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/silent") return new Promise<Response>(() => undefined);
    if (pathname === "/empty") return new Response(null, { status: 204 });
    const told = [request.method, request.url, request.headers.get("x-own"), await request.text()].join(" ");
    return new Response(told, {
      status: pathname === "/moved" ? 302 : 200,
      headers: [
        ["set-cookie", "a=1"],
        ["set-cookie", "b=2"],
        ["location", "/there"],
      ],
    });
  },
});
beforeAll(async () => {
  if (hasOpenssl) await (await testAuthority(folder)).issue("server", { names: "DNS:agents.example.com" });
});
afterAll(() => Promise.all([server.stop(true), rm(folder, { recursive: true })]));

const never = new AbortController().signal;
const allow = [`127.0.0.1:${server.port}`, `near.example:${server.port}`];
const policy = { allow, deny: [], only: [] };
const known: Record<string, string[]> = { "near.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"] };
const resolve = async (name: string) => known[name] ?? Promise.reject(new Error("unknown"));
const hop = (url: string, more: Partial<Hop> = {}): Hop => ({
  url: new URL(url),
  headers: { "x-own": "1" },
  body: undefined,
  signal: never,
  ...more,
});
const textOf = async ({ stream }: RelayedResponse) => Buffer.concat(await stream.toArray()).toString();

const directly = connectDirectly({ policy, resolve });
const byProxy = connectByProxy({ policy, resolve, proxy: server.url.href });

test.each([
  ["directly", directly, `http://near.example:${server.port}/page`],
  ["through a proxy", byProxy, "http://unknown.example/page"],
] as const)(
  "a hop %s has its headers, its method and its body, and its redirect is left to the caller",
  async (_, connect, url) => {
    const got = await connect(hop(url));
    expect([got.status, await textOf(got)]).toEqual([200, `GET ${url} 1 `]);
    expect(got.headers["set-cookie"]).toBe("a=1, b=2");
    const posted = await connect(hop(url.replace("page", "moved"), { body: "für" }));
    expect([posted.status, posted.headers.location]).toEqual([302, "/there"]);
    const empty = await connect(hop(url.replace("page", "empty")));
    expect([empty.status, await textOf(empty)]).toEqual([204, ""]);
    expect(await textOf(posted)).toEndWith("1 für");
  },
);

test.each([
  ["directly", directly, `http://near.example:${server.port}/silent`],
  ["through a proxy", byProxy, "http://unknown.example/silent"],
] as const)("a hop %s ends with its signal", async (_, connect, url) => {
  const control = new AbortController();
  const hanging = connect(hop(url, { signal: control.signal }));
  control.abort();
  await expect(hanging).rejects.toMatchObject({ name: "AbortError" });
});

test("each hop has a connection of its own, to an address that was checked for it", async () => {
  let connections = 0;
  const counting = createServer((_, response) => response.end("here")).on("connection", () => connections++);
  await new Promise<void>((listening) => counting.listen(0, "127.0.0.1", listening));
  const { port } = counting.address() as AddressInfo;
  const connect = connectDirectly({ policy: { ...policy, allow: [`near.example:${port}`] }, resolve });
  for (let count = 0; count < 2; count++)
    expect(await textOf(await connect(hop(`http://near.example:${port}/`)))).toBe("here");
  expect(connections).toBe(2);
  counting.closeAllConnections();
  await new Promise((closed) => counting.close(closed));
});

test("the system's resolver is asked for all addresses of a name", async () => {
  const all = (await lookup("localhost", { all: true })).map(({ address }) => address);
  expect(await resolveBySystem("localhost")).toEqual(all);
  await expect(resolveBySystem("no-such-name.invalid")).rejects.toThrow();
});

test("a name that is known not to be public is refused; one that only the proxy may know is left to it", async () => {
  const inside = "http://inside.example/";
  await expect(directly(hop(inside))).rejects.toMatchObject({ code: "forbidden" });
  await expect(byProxy(hop(inside))).rejects.toMatchObject({ code: "forbidden" });
  await expect(directly(hop("http://unknown.example/"))).rejects.toMatchObject({ code: "unavailable" });
  expect((await byProxy(hop("http://unknown.example/"))).status).toBe(200);
});

test.skipIf(!hasOpenssl)(
  "a server of this system is recognised by its authority and one of its names, and shown our certificate",
  async () => {
    const own = { ca: [await pem("ca.pem")], cert: await pem("server.pem"), key: await pem("server.key") };
    const tls = { cert: own.cert, key: own.key, ca: own.ca, requestCert: true, rejectUnauthorized: true };
    const wanting = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response("hello") });
    const { port } = wanting;
    const asked: string[] = [];
    const reaching = (tls: TlsOfServer | undefined) =>
      connectDirectly({
        policy: { ...policy, allow: [`127.0.0.1:${port}`] },
        resolve,
        tls: async (url) => {
          asked.push(url.href);
          return tls;
        },
      })(hop(`https://127.0.0.1:${port}/`)).then(textOf, (error: NodeJS.ErrnoException) => error.code);
    const names = ["agents.example.com"];
    expect(await reaching({ ...own, names })).toBe("hello");
    expect(await reaching({ ...own, names: ["other.example", ...names] })).toBe("hello");
    expect(await reaching({ ca: own.ca, names })).not.toBe("hello");
    expect(await reaching({ ...own, names: ["other.example"] })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(await reaching({ ...own, names: [] })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(await reaching({ names })).not.toBe("hello");
    expect(await reaching(undefined)).not.toBe("hello");
    expect(new Set(asked)).toEqual(new Set([`https://127.0.0.1:${port}/`]));
    // Nothing of it is different by way of a proxy.
    const between = await startEgressProxy({ policy: { ...policy, allow: [`127.0.0.1:${port}`] } });
    const { username, password } = between.admit(() => undefined);
    const proxy = between.url.replace("://", `://${username}:${password}@`);
    const through = (tls: TlsOfServer | undefined) =>
      connectByProxy({ policy: { ...policy, allow: [`127.0.0.1:${port}`] }, resolve, proxy, tls: async () => tls })(
        hop(`https://127.0.0.1:${port}/`),
      ).then(textOf, () => "refused");
    expect(await through({ ...own, names })).toBe("hello");
    expect(await through({ ...own, names: ["other.example"] })).toBe("refused");
    expect(await through(undefined)).toBe("refused");
    const egress = createEgress(
      { ...policy, allow: [`127.0.0.1:${port}`] },
      { resolve, proxy, tls: async () => ({ ...own, names }) },
    );
    const request = { url: `https://127.0.0.1:${port}/`, signal: never, timeoutMs: 30_000, maxBytes: 100 };
    expect(Buffer.from((await egress.fetch(request)).body).toString()).toBe("hello");
    await between.close();
    await wanting.stop(true);
  },
);
