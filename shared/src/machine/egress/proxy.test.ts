import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { type EgressProxy, startEgressProxy } from "./proxy.ts";
import type { ProxiedRequest, ProxyUser } from "./proxy-access.ts";
import { proxyGreeting } from "./proxy-names.ts";
import { tunnelTarget } from "./proxy-tunnel.ts";

const seen: string[] = [];
const origin = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    seen.push(
      `${request.method} ${pathname} ${request.headers.get("proxy-authorization")} ${request.headers.get("host")}`,
    );
    if (pathname === "/headers") return Response.json(Object.fromEntries(request.headers));
    if (pathname === "/large") return new Response(`${"x".repeat(2_000_000)}last`);
    if (pathname === "/endless") return new Response(endless());
    if (pathname === "/silent") return new Promise<Response>(() => undefined);
    return new Response(`${request.method} ${await request.text()}`, {
      headers: [
        ["set-cookie", "a=1"],
        ["set-cookie", "b=2"],
      ],
    });
  },
});
const host = `127.0.0.1:${origin.port}`;
const policy = { allow: [host], deny: ["denied.example"], only: [] };
const told: ProxiedRequest[] = [];
const strangers: ProxiedRequest[] = [];
const proxy = await startEgressProxy({
  policy,
  resolve: async (name) => (name === "inside.example" ? ["8.8.8.8", "10.0.0.1"] : Promise.reject(new Error("unknown"))),
  limits: { answerBytes: 1_000_000, idleMs: 1_000, connections: 3 },
  onStranger: (request) => strangers.push(request),
});
const user = proxy.admit((request) => told.push(request));
afterAll(async () => {
  await proxy.close();
  await origin.stop(true);
});

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(64_000)) });
}

/** The response to the bytes of a request, up to where the other side closes or `until` appears. */
function exchange(
  text: string,
  { through = proxy, until = "\r\n\r\n" }: { through?: EgressProxy; until?: string } = {},
) {
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = "";
  const socket: Socket = connect(Number(new URL(through.url).port), "127.0.0.1", () => socket.write(text));
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
    if (answer.includes(until)) socket.destroy();
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => resolve(answer));
  return promise;
}

const authorization = ({ username, password }: Pick<ProxyUser, "username" | "password">) =>
  `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}\r\n`;
const request = (line: string, by: Pick<ProxyUser, "username" | "password"> | undefined = user, body = "") =>
  `${line} HTTP/1.1\r\nHost: ignored.example\r\n${by === undefined ? "" : authorization(by)}${body === "" ? "" : `Content-Length: ${body.length}\r\n`}\r\n${body}`;
const statusOf = async (answer: Promise<string>) => Number((await answer).split(" ")[1]);

test("a request without credentials gets nothing, and is reported", async () => {
  for (const line of [`GET http://${host}/`, `CONNECT ${host}`, `GET ${proxyGreeting}`]) {
    const text = request(line, undefined).replace(authorization(user), "");
    const answer = await exchange(text.replace(/Proxy-Authorization.*\r\n/, ""));
    expect(answer).toStartWith("HTTP/1.1 407");
    expect(answer.toLowerCase()).toContain("proxy-authenticate: basic");
    expect(await statusOf(exchange(request(line, { ...user, password: "guess" })))).toBe(407);
  }
  expect(strangers).toHaveLength(6);
  expect(strangers[2]).toEqual({ method: "CONNECT", target: host, refused: "This proxy needs credentials." });
  const closing = await exchange(request(`CONNECT ${host}`, { ...user, password: "guess" }), { until: "never" });
  expect(closing.toLowerCase()).toContain("connection: close\r\n");
  expect(closing).toContain("content-type: text/plain; charset=utf-8\r\n");
  strangers.pop();
  expect(seen).toEqual([]);
  expect(await statusOf(exchange(request(`GET ${proxyGreeting}`)))).toBe(200);
});

test("requests and tunnels within the policy pass, reported before they leave, without the proxy's headers", async () => {
  const answer = await exchange(request(`POST http://${host}/form?q=1`, user, "body"), { until: "POST body" });
  expect(answer).toContain("set-cookie: a=1");
  expect(answer).toContain("set-cookie: b=2");
  expect(seen.at(-1)).toBe(`POST /form null ${host}`);
  const tunnel = `${request(`CONNECT ${host}`)}GET /in HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  expect(await exchange(tunnel, { until: "GET " })).toStartWith("HTTP/1.1 200 Connection Established");
  expect(seen.at(-1)).toBe(`GET /in null ${host}`);
  expect(told).toEqual([
    { method: "POST", target: `http://${host}/form?q=1`, refused: undefined },
    { method: "CONNECT", target: host, refused: undefined },
  ]);
});

test("headers for one hop stay there, all others are passed on", async () => {
  const hop = ["Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "TE", "Trailer", "Upgrade"];
  const lines = [...hop, "X-Own", "Cookie"].map((name) => `${name}: a=1\r\n`).join("");
  const asked = request(`GET http://${host}/headers`).replace(/\r\n\r\n$/, `\r\n${lines}\r\n`);
  const answer = await exchange(asked, { until: "}" });
  const received = JSON.parse(answer.slice(answer.indexOf("{")));
  expect(received).toMatchObject({ host, "x-own": "a=1", cookie: "a=1" });
  for (const name of [...hop, "Proxy-Authorization"])
    expect([name, received[name.toLowerCase()]]).toEqual([name, undefined]);
});

test("a refused request gets 403 with the reason, and no connection is made", async () => {
  told.length = 0;
  for (const [line, reason] of [
    ["GET http://169.254.169.254/", "not public"],
    ["GET http://localhost/", "not public"],
    ["GET http://inside.example/", "not public"],
    ["GET http://denied.example/", "deny list"],
    ["GET http://8.8.8.8:25/", "not a web port"],
    ["GET /path", "not a URL"],
    ["GET https://8.8.8.8/", "must go through a tunnel"],
    ["CONNECT 127.0.0.1:1", "not public"],
    ["CONNECT inside.example:443", "not public"],
    ["CONNECT 8.8.8.8:22", "not a web port"],
  ] as const) {
    const count = told.length;
    const answer = await exchange(request(line), { until: reason });
    expect(answer).toStartWith("HTTP/1.1 403");
    expect(told.slice(count)).toMatchObject([{ refused: expect.stringContaining(reason) }]);
  }
  // What fails is not what was refused.
  const before = told.length;
  for (const line of ["GET http://unknown.example/", "CONNECT unknown.example:443"])
    expect(await statusOf(exchange(request(line)))).toBe(502);
  expect(told.length).toBe(before);
});

test("a proxy is reached from this machine alone, and lets large answers through", async () => {
  const usual = await startEgressProxy({ policy });
  const mine = usual.admit(() => undefined);
  const answer = await exchange(request(`GET http://${host}/large`, mine), { through: usual, until: "last" });
  expect(answer.length).toBeGreaterThan(2_000_000);
  // Whoever listens on every address listens here too.
  const elsewhere = new Promise((done) => {
    const socket = connect(Number(new URL(usual.url).port), "127.0.0.2");
    socket.once("connect", () => done("connected")).once("error", () => done("refused"));
    socket.once("connect", () => socket.destroy());
  });
  expect(await elsewhere).toBe("refused");
  await usual.close();
});

test("a target that is not a host and a port is refused before anything is looked up", () => {
  const code = (authority: string) => {
    try {
      return tunnelTarget(authority, { allow: [], deny: [], only: [] }).host;
    } catch (error) {
      return error instanceof AppError ? error.code : error;
    }
  };
  for (const authority of ["a.example:443", "a.example:8443", "[2606:4700::1111]:443"])
    expect([authority, code(authority)]).toEqual([authority, authority.replace(":443", "")]);
  for (const authority of [
    "a.example",
    "a.example:",
    "a.example:443/x",
    "u@a.example:443",
    "a.example:443?x",
    "a b:443",
    "a.example:443#x",
    "[a]:443",
    ":443",
    "",
  ])
    expect([authority, code(authority)]).toEqual([authority, "invalid_input"]);
});

test("closing the proxy ends its tunnels, however long they may be silent", async () => {
  const closing = await startEgressProxy({ policy, limits: { idleMs: 600_000 } });
  const begun = Promise.withResolvers<void>();
  const mine = closing.admit(() => begun.resolve());
  const silent = `${request(`CONNECT ${host}`, mine)}GET /silent HTTP/1.1\r\nHost: x\r\n\r\n`;
  const held = exchange(silent, { through: closing, until: "never" }).then(() => "ended");
  await begun.promise;
  await closing.close();
  expect(await Promise.race([held, Bun.sleep(5_000)])).toBe("ended");
});

test("a response that stops in the middle is ended once it was silent for too long", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart"));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const quick = await startEgressProxy({ policy: { ...policy, allow: [target] }, limits: { idleMs: 50 } });
  const mine = quick.admit(() => undefined);
  const cut = exchange(request(`GET http://${target}/`, mine), { through: quick, until: "never" });
  expect(await Promise.race([cut, Bun.sleep(10_000)])).toEndWith("part");
  await quick.close();
  await new Promise((closed) => server.close(closed));
});

test("a proxy on a Unix socket is reached there, and nowhere else", async () => {
  const path = join(await mkdtemp(join(tmpdir(), "manyhands-proxy-")), "proxy");
  const local = await startEgressProxy({ policy, socket: path });
  expect(local.url).toBe(path);
  const { username, password } = local.admit(() => undefined);
  const answer = Promise.withResolvers<string>();
  const socket = connect(path, () => socket.write(request(`GET ${proxyGreeting}`, { username, password })));
  socket.once("data", (chunk) => answer.resolve(chunk.toString("latin1")));
  expect(await answer.promise).toStartWith("HTTP/1.1 200");
  await local.close();
  await rm(dirname(path), { recursive: true });
});

test("a server that never answers a request is given up as too slow", async () => {
  const quick = await startEgressProxy({ policy, limits: { connectMs: 50, idleMs: 50 } });
  const mine = quick.admit(() => undefined);
  expect(await statusOf(exchange(request(`GET http://${host}/silent`, mine), { through: quick }))).toBe(504);
  await quick.close();
});

test("an endless response is cut off, and a silent server given up", async () => {
  for (const text of [
    request(`GET http://${host}/endless`),
    `${request(`CONNECT ${host}`)}GET /endless HTTP/1.1\r\nHost: x\r\n\r\n`,
  ]) {
    expect((await exchange(text, { until: "never" })).length).toBeLessThan(1_100_000);
    expect(told.at(-1)?.refused).toBe("The answer was cut off after 1 MB.");
  }
  const begun = performance.now();
  const silent = `${request(`CONNECT ${host}`)}GET /silent HTTP/1.1\r\nHost: x\r\n\r\n`;
  await exchange(silent, { until: "never" });
  expect(performance.now() - begun).toBeLessThan(30_000);
});

test("a user has a limited number of connections, and none once it is revoked", async () => {
  let onTold: () => void = () => undefined;
  const other = proxy.admit(() => onTold());
  const held: Promise<string>[] = [];
  for (const tunnel of [1, 2, 3]) {
    // A connection is counted before its request is reported.
    const begun = Promise.withResolvers<void>();
    onTold = begun.resolve;
    held.push(exchange(request(`CONNECT ${host}`, other), { until: "never" }));
    await begun.promise;
    expect(held).toHaveLength(tunnel);
  }
  for (const line of [`CONNECT ${host}`, `GET http://${host}/`])
    expect(await statusOf(exchange(request(line, other)))).toBe(503);
  expect(await statusOf(exchange(request(`GET http://${host}/`)))).toBe(200);
  other.revoke();
  await Promise.all(held);
  expect(await statusOf(exchange(request(`GET http://${host}/`, other)))).toBe(407);
});

test("when a user is revoked its connections end at once, however long they may be silent", async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  const target = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const patient = await startEgressProxy({ policy: { ...policy, allow: [target] }, limits: { idleMs: 600_000 } });
  const begun = Promise.withResolvers<void>();
  const mine = patient.admit(() => begun.resolve());
  const held = exchange(request(`CONNECT ${target}`, mine), { through: patient, until: "never" }).then(() => "ended");
  await begun.promise;
  mine.revoke();
  expect(await Promise.race([held, Bun.sleep(5_000)])).toBe("ended");
  await patient.close();
  await new Promise((closed) => silent.close(closed));
});

test("with an upstream proxy everything goes there, with its credentials, and the policy applies before it", async () => {
  const beyond: ProxiedRequest[] = [];
  const upstream = await startEgressProxy({ policy });
  const { username, password } = upstream.admit((each) => beyond.push(each));
  const chained = await startEgressProxy({
    policy,
    upstream: { server: upstream.url.slice("http://".length), username, password },
  });
  const mine = chained.admit(() => undefined);
  try {
    const options = { through: chained, until: "GET " };
    expect(await exchange(request(`GET http://${host}/a`, mine), options)).toStartWith("HTTP/1.1 200");
    expect(seen.at(-1)).toBe(`GET /a null ${host}`);
    const tunnel = `${request(`CONNECT ${host}`, mine)}GET /b HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    expect(await exchange(tunnel, options)).toContain("HTTP/1.1 200 OK");
    expect(beyond.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `GET http://${host}/a`,
      `CONNECT ${host}`,
    ]);
    expect(await statusOf(exchange(request("CONNECT 10.0.0.1:443", mine), { through: chained }))).toBe(403);
    expect(beyond).toHaveLength(2);
  } finally {
    await Promise.all([chained.close(), upstream.close()]);
  }
  const socks = startEgressProxy({ policy, upstream: { server: "socks5://127.0.0.1:1080" } });
  expect(await socks.catch((error) => error.code)).toBe("config_invalid");
});

test.each([
  ["closes the connection", 502, "The proxy closed the connection.", 600_000],
  ["says nothing", 504, "The proxy did not answer in time.", 100],
] as const)("an upstream proxy that %s is given up with %d", async (what, status, reason, connectMs) => {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => what === "says nothing" || socket.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const upstream = { server: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  const through = await startEgressProxy({ policy, upstream, limits: { connectMs, idleMs: 600_000 } });
  const answer = await exchange(
    request(
      `CONNECT ${host}`,
      through.admit(() => undefined),
    ),
    { through, until: reason },
  );
  expect(answer).toStartWith(`HTTP/1.1 ${status} `);
  await through.close();
  await new Promise((closed) => server.close(closed));
});

test("an upstream proxy at an https address is spoken to over TLS only, by its name", async () => {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (data: Buffer) => {
      heard.push(data);
      socket.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  for (const name of ["localhost", "127.0.0.1"]) {
    const upstream = { server: `https://u:secret@${name}:${port}` };
    const through = await startEgressProxy({ policy, upstream });
    const mine = through.admit(() => undefined);
    for (const line of [`CONNECT ${host}`, `GET http://${host}/`])
      expect(await statusOf(exchange(request(line, mine), { through }))).toBe(502);
    await through.close();
  }
  // TLS begins with the byte 22.
  expect(heard.map((data) => data[0])).toEqual([22, 22, 22, 22]);
  expect(heard.map((data) => data.includes("localhost"))).toEqual([true, true, false, false]);
  await new Promise((closed) => server.close(closed));
});

/** An upstream proxy that answers every CONNECT with these pieces, each sent separately. */
async function rawUpstream(...pieces: readonly string[]) {
  const asked: string[] = [];
  const left = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("close", () => left.resolve());
    socket.once("data", async (head: Buffer) => {
      asked.push(head.toString("latin1"));
      for (const piece of pieces) await new Promise((sent) => socket.write(piece, sent));
      if (!pieces.join("").includes(" 200 ")) return;
      socket.on("data", (chunk: Buffer) => socket.end(`echo ${chunk.toString("latin1")}`));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const through = await startEgressProxy({
    policy,
    upstream: { server: `127.0.0.1:${(server.address() as AddressInfo).port}` },
    resolve: async (name) => (name === "known.example" ? ["8.8.8.8"] : Promise.reject(new Error("unknown"))),
    limits: { connectMs: 5_000, idleMs: 5_000 },
  });
  const { username, password } = through.admit(() => undefined);
  return {
    through,
    asked,
    left: left.promise,
    tunnel: `${request(`CONNECT ${host}`, { username, password })}ping`,
    async [Symbol.asyncDispose]() {
      await through.close();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test("bytes after the head of a proxy's response are the target's first, and are passed on once", async () => {
  const head = "HTTP/1.1 200 OK\r\nVia: x\r\n\r\n";
  const early = "e".repeat(20_000);
  for (const pieces of [[head + early], [head.slice(0, -2), head.slice(-2) + early], [head, early], [...head, early]]) {
    await using upstream = await rawUpstream(...pieces);
    const answer = await exchange(upstream.tunnel, { through: upstream.through, until: "echo ping" });
    const [established = "", ...rest] = answer.split("\r\n\r\n");
    expect(established).toStartWith("HTTP/1.1 200 Connection Established");
    expect(rest.join("")).toBe(`${early}echo ping`);
  }
});

test("an upstream proxy whose response head never ends, or that refuses with a long page, is given up", async () => {
  for (const pieces of [
    ["HTTP/1.1 200 OK\r\nX: ".padEnd(40_000, "x")],
    [`HTTP/1.1 403 No\r\n\r\n${"x".repeat(100_000)}`],
    ["HTTP/1.1 199 Wait\r\n\r\n"],
    ["HTTP/1.1 300 Choose\r\n\r\n"],
    ["SSH-2.0-OpenSSH\r\n\r\n"],
  ]) {
    await using upstream = await rawUpstream(...pieces);
    expect(await statusOf(exchange(upstream.tunnel, { through: upstream.through }))).toBe(502);
    expect(upstream.asked[0]).toMatch(new RegExp(`^CONNECT ${host} HTTP/1\\.1\\r\\nhost: ${host}\\r\\n\\r\\n`));
    await upstream.left;
  }
});

test("an upstream proxy is asked for a name by that name, also one that this machine knows, and for its port", async () => {
  await using upstream = await rawUpstream("HTTP/1.1 200 OK\r\n\r\n");
  const { username, password } = upstream.through.admit(() => undefined);
  for (const target of ["known.example:443", "unknown.example:80"]) {
    await exchange(`${request(`CONNECT ${target}`, { username, password })}ping`, {
      ...{ through: upstream.through, until: "echo ping" },
    });
    expect(upstream.asked.at(-1)).toStartWith(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n`);
  }
});

test("a server whose head never ends is given up", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const more = () => {
      while (!socket.destroyed && socket.write(`X-More: ${"x".repeat(1_000)}\r\n`));
    };
    socket.on("drain", more).once("data", () => socket.write("HTTP/1.1 200 OK\r\n", more));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lax = await startEgressProxy({ policy: { ...policy, allow: [target] } });
  const mine = lax.admit(() => undefined);
  expect(await statusOf(exchange(request(`GET http://${target}/`, mine), { through: lax }))).toBe(502);
  await lax.close();
  await new Promise((closed) => server.close(closed));
});

test("an upstream proxy gets the target as its host, not its own name", async () => {
  const asked: (string | undefined)[] = [];
  const upstream = createHttpServer((request, response) => {
    asked.push(request.url, request.headers.host);
    response.end("by proxy");
  });
  await new Promise<void>((listening) => upstream.listen(0, "127.0.0.1", listening));
  const server = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const through = await startEgressProxy({ policy, upstream: { server } });
  const mine = through.admit(() => undefined);
  expect(await exchange(request(`GET http://${host}/a`, mine), { through, until: "by proxy" })).toContain("by proxy");
  expect(asked).toEqual([`http://${host}/a`, host]);
  await through.close();
  upstream.closeAllConnections();
  await new Promise((closed) => upstream.close(closed));
});
