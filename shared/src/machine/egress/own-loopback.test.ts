import { afterAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { admitRequester, admitTunnelHead, leavesLoopback, loopbackNames, ownPort } from "./own-loopback.ts";
import { covers, type EgressPolicy } from "./policy.ts";
import { startEgressProxy } from "./proxy.ts";
import type { ProxiedRequest } from "./proxy-access.ts";

const open: EgressPolicy = { allow: [], deny: [], only: [] };
const attempt = (act: () => unknown) => {
  try {
    return act();
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
};

test.each([
  ["http://localhost/", 80],
  ["http://localhost:80/", 80],
  ["https://localhost/", "forbidden"],
  ["http://localhost:1023/", "forbidden"],
  ["http://localhost:1024/", 1024],
  ["https://localhost:8443/", 8443],
  ["http://localhost:3128/", "forbidden"],
  ["http://LOCALHOST.:8000/", 8000],
  ["http://a.b.localhost:8000/", 8000],
  ["http://127.0.0.1:8000/", 8000],
  ["http://[::1]:8000/", 8000],
  ["http://127.0.0.2:8000/", undefined],
  ["http://[::2]:8000/", undefined],
  ["http://notlocalhost:8000/", undefined],
  ["http://localhost.example:8000/", undefined],
  ["http://example.com/", undefined],
])("of a user's own loopback %s is the port %p", (url, port) => {
  expect(attempt(() => ownPort(new URL(url), open))).toBe(port);
});

test("a loopback that the policy allows is this machine's, and one that it denies is nobody's", () => {
  const policy = { ...open, allow: ["localhost:8080"], deny: ["127.0.0.1:9000"] };
  const port = (url: string) => attempt(() => ownPort(new URL(url), policy));
  expect(port("http://localhost:8080/")).toBeUndefined();
  expect(port("http://localhost:8081/")).toBe(8081);
  expect(port("http://127.0.0.1:9000/")).toBe("forbidden");
  expect(port("http://127.0.0.1:9001/")).toBe(9001);
});

test.each<[Partial<EgressPolicy>, boolean]>([
  [{}, true],
  [{ allow: ["example.com:8080", "10.0.0.1"], deny: ["*.example.com"] }, true],
  [{ allow: ["localhost:8080"] }, false],
  [{ allow: ["[::1]:9000"] }, false],
  [{ deny: ["127.0.0.1"] }, false],
  [{ deny: ["*.localhost"] }, false],
  [{ allow: ["a.example", "db.localhost"] }, false],
])("a policy with %j leaves all of the loopback to the user's own: %p", (policy, leaves) => {
  expect(leavesLoopback({ ...open, ...policy })).toBe(leaves);
});

test("the names of a loopback cover all that a user's own may be asked by", () => {
  const covered = (url: string) => loopbackNames.some((entry) => covers(entry, new URL(url)));
  const own = ["localhost", "a.localhost", "127.0.0.1", "[::1]"].map((host) => `http://${host}:8000/`);
  expect(own.filter(covered)).toEqual(own);
  expect(["http://127.0.0.2/", "http://notlocalhost/"].filter(covered)).toEqual([]);
});

const site = (value: string) => ({ "sec-fetch-site": value });
test.each<[Record<string, string>, boolean]>([
  [{}, true],
  [site("none"), true],
  [site("same-origin"), true],
  [site("same-site"), true],
  [site("cross-site"), false],
  [{ ...site("cross-site"), origin: "http://localhost:8000" }, true],
  [{ ...site("cross-site"), referer: "http://127.0.0.1:8000/page" }, true],
  [{ ...site("cross-site"), origin: "http://evil.example" }, false],
  [{ origin: "http://evil.example" }, false],
  [{ referer: "http://evil.example/page" }, false],
  [{ origin: "http://evil.example", referer: "http://localhost:8000/" }, false],
  [{ origin: "http://localhost:8000", referer: "http://evil.example/" }, true],
  [{ origin: "null" }, false],
  [{ origin: "https://localhost:8000" }, false],
  [{ origin: "http://localhost.evil.example" }, false],
])("a request with the headers %j is from the loopback's own pages: %p", (headers, admitted) => {
  expect(attempt(() => admitRequester(headers))).toBe(admitted ? undefined : "forbidden");
});

const socketHead = (...lines: string[]) => ["GET /live HTTP/1.1", "Host: localhost:8000", ...lines].join("\r\n");
test.each([
  [socketHead("Origin: http://localhost:8000"), true],
  [socketHead("ORIGIN:http://127.0.0.1:8000", "X: 1"), true],
  [socketHead("Origin: http://evil.example"), false],
  [socketHead("X-Origin: http://localhost:8000"), false],
  [socketHead(), false],
  [socketHead("Origin: http://localhost:8000").replace("GET", "POST"), false],
  [socketHead("Origin: http://localhost:8000").replace("1.1", "1.0"), false],
])("a tunnel that begins with %j is a WebSocket of such a page: %p", (head, admitted) => {
  expect(attempt(() => admitTunnelHead(head))).toBe(admitted ? undefined : "forbidden");
});

/**
 * What a user runs on its own loopback: says what it heard, of `/long` more than is let through.
 */
const heard: string[] = [];
let ended = 0;
const own = createServer((socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("close", () => ended++);
  let text = "";
  const at = heard.push(text) - 1;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    heard[at] = text;
    // However many pieces it comes in, it is answered once it is whole.
    const [, rest] = text.split("\r\n\r\n");
    if (rest === undefined) return;
    if (text.includes("X-Long")) return socket.write("x".repeat(200_000));
    if (text.includes("Upgrade")) return rest === "frame" && socket.write("HTTP/1.1 101 X\r\n\r\nhello");
    const body = text.startsWith("GET /long") ? "x".repeat(200_000) : "mine";
    return socket.write(`HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\nX-Own: 1\r\n\r\n${body}`);
  });
});
await new Promise<void>((listening) => own.listen(0, "127.0.0.1", listening));
const temporary = process.env.TMPDIR;
const folder = await mkdtemp(join(tmpdir(), "in-"));
process.env.TMPDIR = folder;
const proxy = await startEgressProxy({ policy: open, limits: { answerBytes: 100_000 } });
const dialed: number[] = [];
const told: ProxiedRequest[] = [];
const user = proxy.admit(
  (request) => told.push(request),
  async (port) => {
    dialed.push(port);
    if (port === 9999) throw new AppError("unavailable", "Nothing listens on port 9999.");
    return connect((own.address() as AddressInfo).port, "127.0.0.1");
  },
);
const ignore = () => undefined;
const other = proxy.admit(ignore);
afterAll(async () => {
  if (temporary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = temporary;
  await rm(folder, { recursive: true });
  await new Promise((closed) => own.close(closed));
});

/** What comes back for these lines, up to the text that is waited for or the end. */
function exchange(
  lines: readonly string[],
  until: string,
  { username, password } = user,
  { url } = proxy,
): Promise<string> {
  const [first = "", ...more] = lines;
  const credentials = `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}`;
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = "";
  const socket: Socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
    socket.write([first, "Host: ignored.example", credentials, ...more].join("\r\n")),
  );
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
    if (answer.includes(until)) socket.destroy();
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => resolve(answer));
  return promise;
}

async function until(check: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !check(); await Bun.sleep(5))
    if (performance.now() > end) throw new Error("It did not happen in time");
}

test("a user's own server answers for the loopback, is told the address, and is let go of afterwards", async () => {
  const url = "http://localhost:8000/page?q=1";
  const answer = await exchange([`GET ${url} HTTP/1.1`, "Sec-Fetch-Site: none", "", ""], "mine");
  expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*X-Own: 1[\s\S]*\r\n\r\nmine$/);
  expect(dialed).toEqual([8000]);
  expect(heard[0]).toMatch(/^GET \/page\?q=1 HTTP\/1\.1\r\n[\s\S]*host: localhost:8000\r\n/i);
  expect(heard[0]).not.toContain("Proxy-Authorization");
  expect(told).toEqual([{ method: "GET", target: url, refused: undefined }]);
  await until(() => ended === 1);
});

test("a page of another site does not reach it, and one that nothing listens for is told so", async () => {
  const before = [dialed.length, told.length];
  const url = "http://localhost:8000/attack";
  const answer = await exchange([`GET ${url} HTTP/1.1`, "Origin: http://evil.example", "", ""], "not reach");
  expect(answer).toStartWith("HTTP/1.1 403");
  expect([dialed.length, told.length]).toEqual([before[0] ?? 0, (before[1] ?? 0) + 1]);
  expect(told.at(-1)).toEqual({ method: "GET", target: url, refused: expect.stringContaining("other sites") });
  expect(await exchange(["GET http://localhost:9999/ HTTP/1.1", "", ""], "port 9999")).toStartWith("HTTP/1.1 502");
  // For a user without such servers it is this machine's, which nobody reaches.
  expect(await exchange([`GET ${url} HTTP/1.1`, "", ""], "not public", other)).toStartWith("HTTP/1.1 403");
});

test("a WebSocket of its page is joined to it with all that was sent, and no other tunnel is", async () => {
  const tunnel = (origin: string, rest: string) => [
    "CONNECT localhost:8000 HTTP/1.1",
    "",
    "GET /live HTTP/1.1",
    "Upgrade: websocket",
    `Origin: ${origin}`,
    "",
    rest,
  ];
  const dials = dialed.length;
  const answer = await exchange(tunnel("http://127.0.0.1:8000", "frame"), "hello");
  expect(answer).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 101/);
  expect(heard.at(-1)).toStartWith("GET /live HTTP/1.1\r\nUpgrade: websocket\r\n");
  expect(told.at(-1)).toEqual({ method: "CONNECT", target: "localhost:8000", refused: undefined });
  expect(dialed.slice(dials)).toEqual([8000]);
  expect(await exchange(tunnel("http://evil.example", ""), "Only WebSockets")).toContain("HTTP/1.1 403");
  expect(told.at(-1)?.refused).toContain("Only WebSockets");
  expect(dialed.slice(dials)).toEqual([8000]);
});

test("a tunnel through which nothing is asked for is given up", async () => {
  const quick = await startEgressProxy({ policy: open, limits: { connectMs: 50, idleMs: 600_000 } });
  const mine = quick.admit(ignore, () => Promise.reject(new Error("Nobody asked.")));
  const answer = await exchange(["CONNECT localhost:8000 HTTP/1.1", "", ""], "in time", mine, quick);
  expect(answer).toContain("HTTP/1.1 504");
  await quick.close();
});

test("more than is let through is cut off, and reported; closing the proxy leaves no folder, nor does one that was killed", async () => {
  const killed = Bun.spawn(["true"]);
  await killed.exited;
  const [left] = await readdir(folder);
  // As the killed one would have named it.
  await mkdir(join(folder, (left ?? "").replace(/-\d+-\d+-(?=[\da-f]{8}$)/, `-${killed.pid}-5-`)));
  const next = await startEgressProxy({ policy: open });
  const ours = next.admit(ignore, async () => connect((own.address() as AddressInfo).port, "127.0.0.1"));
  await exchange(["GET http://localhost:8000/ HTTP/1.1", "", ""], "mine", ours, next);
  await next.close();
  expect((await exchange(["GET http://localhost:8000/long HTTP/1.1", "", ""], "never")).length).toBeLessThan(110_000);
  await until(() => told.at(-1)?.refused === "The answer was cut off after 0.1 MB.");
  const socket = ["GET /live HTTP/1.1", "Upgrade: websocket", "Origin: http://localhost:8000", "X-Long: 1", "", ""];
  const count = told.length;
  expect((await exchange(["CONNECT localhost:8000 HTTP/1.1", "", ...socket], "never")).length).toBeLessThan(110_000);
  await until(() => told.length === count + 2);
  expect(told.at(-1)?.refused).toBe("The answer was cut off after 0.1 MB.");
  const made = await readdir(folder);
  await proxy.close();
  expect([made.length, await readdir(folder)]).toEqual([1, []]);
});
