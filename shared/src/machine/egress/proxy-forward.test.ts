import { afterAll, expect, test } from "bun:test";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { startEgressProxy } from "./proxy.ts";

const asked: string[] = [];
let connections = 0;
let left = 0;
const origin = createServer((request, response) => {
  asked.push(`${request.method} ${request.headers.host} ${request.url}`);
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
origin.on("connection", () => connections++);
await new Promise<void>((listening) => origin.listen(0, "127.0.0.1", listening));
const { port } = origin.address() as AddressInfo;

const near = `near.example:${port}`;
const known: Record<string, string[]> = { "near.example": ["127.0.0.1"], "inside.example": ["127.0.0.1"] };
const proxy = await startEgressProxy({
  policy: { allow: [near], deny: [], only: [] },
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

test("a request has its own method, and a connection of its own, to the address that was just checked", async () => {
  const before = connections;
  for (const method of ["GET", "DELETE", "OPTIONS"])
    expect(await request(`http://${near}/${method}`, method).answer).toStartWith("HTTP/1.1 200");
  expect(asked.slice(-3)).toEqual(["GET", "DELETE", "OPTIONS"].map((method) => `${method} ${near} /${method}`));
  expect(connections - before).toBe(3);
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
