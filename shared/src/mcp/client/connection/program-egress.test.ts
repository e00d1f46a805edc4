import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { dirname } from "node:path";
import type { EgressPolicy } from "../../../machine/egress/policy.ts";
import { openProgramEgress, type ProgramEgress } from "./program-egress.ts";

/** A server that answers whatever comes, and counts who came. */
function listening(answer: string): Promise<{ port: number; came: string[]; server: Server }> {
  const came: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes) => {
      came.push(String(bytes).split("\r\n")[0] ?? "");
      socket.end(answer);
    });
  });
  const { promise, resolve } = Promise.withResolvers<{ port: number; came: string[]; server: Server }>();
  server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as { port: number }).port, came, server }));
  return promise;
}

let origin: Awaited<ReturnType<typeof listening>>;
beforeAll(async () => {
  origin = await listening("HTTP/1.1 204 No Content\r\n\r\n");
});
afterAll(() => void origin.server.close());

type Options = {
  readonly network: readonly string[];
  readonly proxy?: string;
  readonly user?: { uid: number; gid: number };
};

async function opened({ network, proxy, user, ...policy }: Options & Partial<EgressPolicy>) {
  const logged: object[] = [];
  const told: string[] = [];
  const way = await openProgramEgress({ name: "s", network }, user, {
    policy: { allow: [], deny: [], only: [], ...policy },
    proxy,
    log: { warn: (fields) => void logged.push(fields) },
    refused: (sentence) => void told.push(sentence),
  });
  return { way, logged, told, status: (target: string) => statusOf(way, target), [Symbol.asyncDispose]: way.close };
}

/**
 * A tunnel to this target, its status, and when it is closed; no status if the proxy is not there.
 */
function tunnel({ proxy }: ProgramEgress, target: string) {
  const status = Promise.withResolvers<number | undefined>();
  const closed = Promise.withResolvers<void>();
  const socket = connect(proxy.socket);
  const by = btoa(`${proxy.username}:${proxy.password}`);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: Basic ${by}\r\n\r\n`);
  socket.once("data", (bytes) => status.resolve(Number(String(bytes).split(" ")[1])));
  socket.on("error", () => status.resolve(undefined));
  socket.on("close", () => {
    status.resolve(undefined);
    closed.resolve();
  });
  return { status: status.promise, closed: closed.promise, leave: () => void socket.destroy() };
}

async function statusOf(way: ProgramEgress, target: string): Promise<number | undefined> {
  const { status, leave } = tunnel(way, target);
  return status.finally(leave);
}
const here = (host = "127.0.0.1") => `${host}:${origin.port}`;

test("a program reaches the addresses that its entry names, names that mean this machine only where all may", async () => {
  for (const [network, target, status, policy] of [
    [[here()], here(), 200, {}],
    [["127.0.0.1"], here(), 200, {}],
    [[here()], "127.0.0.1:1", 403, {}],
    [[`[::1]:${origin.port}`], here(), 403, {}],
    [[here("localhost")], here("localhost"), 403, {}],
    [[here("localhost")], here("localhost"), 200, { allow: [here("localhost")] }],
    [["*"], here(), 403, {}],
    [["*", here()], here(), 200, {}],
    [["*"], here("localhost"), 200, { allow: [here("localhost")] }],
    [["*", here()], here(), 403, { deny: [here()] }],
    // What the tools may reach is no bound for a server whose entry names more, and none reaches
    // more by it.
    [[here()], here(), 200, { only: ["other.example"] }],
    [["other.example"], here(), 403, { allow: [here()], only: [here()] }],
  ] as const) {
    await using it = await opened({ network, ...policy });
    expect([network, policy, target, await it.status(target)]).toEqual([network, policy, target, status]);
  }
});

test("only where an entry names this machine, its loopback addresses go to the proxy", async () => {
  for (const [network, loopback] of [
    [["a.example", "127.0.0.1:5000"], true],
    [["localhost"], true],
    [["[::1]:5000"], true],
    [["*", "10.0.0.5:5432", "localhost.example", "127.0.0.1.example"], undefined],
  ] as const) {
    await using it = await opened({ network });
    expect([network, it.way.proxy.loopback]).toEqual([network, loopback]);
  }
});

test("an IPv6 address counts as named with and without its port", async () => {
  for (const network of [["[::1]"], ["[::1]:9999"]]) {
    await using it = await opened({ network });
    expect(await it.status("[::1]:9999")).not.toBe(403);
  }
});

test("what was refused is told once each, with the setting that would allow it, twenty times at most", async () => {
  const policy = { deny: ["denied.example"] };
  for (const [network, target, setting] of [
    [[here()], "127.0.0.1:1", '"network" in its entry in mcp.json names what it reaches.'],
    [["*", "denied.example"], "denied.example:443", "[egress] deny names it."],
    [["*"], "127.0.0.1:1", '[egress] allow = ["127.0.0.1"] lets it there, as for a mirror of one\'s own network.'],
    [["localhost"], "localhost:1", '[egress] allow = ["localhost"] lets it there'],
  ] as const) {
    await using it = await opened({ network, ...policy });
    for (let n = 0; n < 2; n++) expect(await it.status(target)).toBe(403);
    expect(it.told).toEqual([expect.stringContaining(setting)]);
    expect(it.told[0]).toStartWith("It was kept from the network: The host ");
    expect(it.logged).toEqual([
      { server: "s", target, refused: expect.any(String), setting: expect.stringContaining(setting) },
    ]);
  }
  await using many = await opened({ network: [here()] });
  expect(await many.status(here())).toBe(200);
  expect(many.told).toEqual([]);
  await many.status(`${"x".repeat(63)}.${"y".repeat(63)}.${"z".repeat(63)}.example.com:443`);
  expect((many.logged[0] as { target: string }).target).toHaveLength(200);
  for (let n = 0; n < 25; n++) await many.status(`h${n}.example:443`);
  expect([many.told.length, many.logged.length]).toEqual([20, 20]);
});

test("through the operator's own proxy, where there is one", async () => {
  const upstream = await listening("HTTP/1.1 200 OK\r\n\r\n");
  await using it = await opened({ network: [here()], proxy: `http://127.0.0.1:${upstream.port}` });
  expect(await it.status(here())).toBe(200);
  expect(upstream.came).toEqual([`CONNECT ${here()} HTTP/1.1`]);
  upstream.server.close();
});

test("its socket is the program's user's alone, and gone with its folder and its connections when it is closed", async () => {
  const isRoot = process.getuid?.() === 0;
  await using it = await opened({ network: [here()], ...(isRoot && { user: { uid: 12_345, gid: 12_346 } }) });
  const { socket } = it.way.proxy;
  const { mode, uid, gid } = await stat(socket);
  expect(mode & 0o777).toBe(0o600);
  if (isRoot) expect([uid, gid]).toEqual([12_345, 12_346]);
  const kept = tunnel(it.way, here());
  expect(await kept.status).toBe(200);
  await it.way.close();
  await kept.closed;
  expect([existsSync(socket), existsSync(dirname(socket)), await it.status(here())]).toEqual([false, false, undefined]);
});
