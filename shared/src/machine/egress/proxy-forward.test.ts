import { afterAll, expect, spyOn, test } from "bun:test";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { startEgressProxy } from "./proxy.ts";
import { dialFirst } from "./proxy-dial.ts";

const asked: string[] = [];
/** The connections that something was asked on. */
const sockets = new Set<Socket>();
let left = 0;
const origin = createServer((request, response) => {
  asked.push(`${request.method} ${request.headers.host} ${request.url}`);
  sockets.add(request.socket);
  request.socket.once("close", () => left++);
  if (request.url === "/silent") return;
  if (request.url === "/broken") {
    response.write("part", () => request.socket.destroy());
    return;
  }
  response.setHeader("Proxy-Status", "manyhands; error=http_request_denied");
  response.setHeader("Set-Cookie", ["a=1", "b=2", "c=3"]);
  response.end("whole");
});
await new Promise<void>((listening) => origin.listen(0, "127.0.0.1", listening));
const { port } = origin.address() as AddressInfo;

const near = `near.example:${port}`;
const several = `several.example:${port}`;
const known: Record<string, string[]> = {
  "near.example": ["127.0.0.1"],
  "inside.example": ["127.0.0.1"],
  "several.example": ["127.0.0.2", "127.0.0.1"],
};
const proxy = await startEgressProxy({
  policy: { allow: [near, several], deny: [], only: [] },
  resolve: async (name) => known[name] ?? Promise.reject(new Error("unknown")),
  limits: { connectMs: 5_000, idleMs: 60_000 },
});
const { username, password } = proxy.admit(() => undefined);
afterAll(async () => {
  await proxy.close();
  origin.closeAllConnections();
  await new Promise((closed) => origin.close(closed));
});

/** A request through the proxy, its answer once that has ended, and a way to leave before. */
function request(url: string, method = "GET") {
  const lines = [`${method} ${url} HTTP/1.1`, "Host: ignored.example", "Connection: close"];
  const credentials = `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}`;
  const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1", () =>
    socket.write(`${[...lines, credentials].join("\r\n")}\r\n\r\n`),
  );
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
    if (answer.endsWith("whole") || answer.includes("0\r\n\r\n")) socket.end();
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => resolve(answer));
  return { answer: promise, leave: () => socket.destroy() };
}

async function until(check: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !check(); await Bun.sleep(5))
    if (performance.now() > end) throw new Error("It did not happen in time");
}

test("a name is reached at the address that was checked, under its own name, and each of several headers comes back", async () => {
  const answer = await request(`http://${near}/page?q=1`).answer;
  expect(answer).toStartWith("HTTP/1.1 200");
  expect(answer.match(/set-cookie: .=\d/gi)?.map((line) => line.slice(-3))).toEqual(["a=1", "b=2", "c=3"]);
  expect(asked.at(-1)).toBe(`GET ${near} /page?q=1`);
  // Only the proxy itself says what it refused.
  expect(answer.toLowerCase()).not.toContain("proxy-status");
  expect(await request(`http://inside.example:${port}/`).answer).toStartWith("HTTP/1.1 403");
});

test("a tunnel to a name leads to the address that was checked", async () => {
  const credentials = `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}`;
  const answer = Promise.withResolvers<string>();
  let heard = "";
  const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1", () =>
    socket.write([`CONNECT ${near} HTTP/1.1`, credentials, "", "GET /in HTTP/1.1", "Host: x", "", ""].join("\r\n")),
  );
  socket.on("data", (chunk) => {
    heard += chunk.toString("latin1");
    if (heard.includes("whole") || heard.includes("502")) socket.destroy();
  });
  socket.once("close", () => answer.resolve(heard));
  expect(await answer.promise).toMatch(/^HTTP\/1\.1 200 Connection Established[\s\S]*whole/);
  expect(asked.at(-1)).toBe("GET x /in");
});

test("a name with several addresses is reached at one that answers", async () => {
  expect(await request(`http://${several}/page`).answer).toStartWith("HTTP/1.1 200");
});

test("what was waited for is not waited for any longer, so that nothing ends what goes on", async () => {
  using sets = spyOn(globalThis, "setTimeout");
  using clears = spyOn(globalThis, "clearTimeout");
  expect(await request(`http://${near}/page`).answer).toStartWith("HTTP/1.1 200");
  const cleared = new Set<unknown>(clears.mock.calls.map(([timer]) => timer));
  const waits = sets.mock.calls.flatMap(([, ms], at) =>
    ms === 65_000 ? [cleared.has(sets.mock.results[at]?.value)] : [],
  );
  // The time to connect and the time to be silent, of the one request.
  expect(waits).toEqual([true]);
  const socket = await dialFirst(["127.0.0.1"], port, 4_000_000);
  const after = new Set<unknown>(clears.mock.calls.map(([timer]) => timer));
  const dialing = sets.mock.calls.findIndex(([, ms = 0]) => ms > 3_000_000);
  expect(after.has(sets.mock.results[dialing]?.value)).toBe(true);
  socket.destroy();
});

test("a request has its own method, and a connection of its own, to the address that was just checked", async () => {
  const before = sockets.size;
  for (const method of ["GET", "DELETE", "OPTIONS"])
    expect(await request(`http://${near}/${method}`, method).answer).toStartWith("HTTP/1.1 200");
  expect(asked.slice(-3)).toEqual(["GET", "DELETE", "OPTIONS"].map((method) => `${method} ${near} /${method}`));
  expect(sockets.size - before).toBe(3);
});

test("an answer that breaks off does not look like a whole one", async () => {
  const answer = await request(`http://${near}/broken`).answer;
  expect(answer).toContain("part");
  expect(answer).not.toContain("0\r\n\r\n");
});

test("when the client leaves, the request it made ends too", async () => {
  const silent = request(`http://${near}/silent`);
  await until(() => asked.at(-1)?.endsWith("/silent") === true);
  const before = left;
  silent.leave();
  await until(() => left > before);
  expect(left).toBe(before + 1);
});
