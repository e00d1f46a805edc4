import { expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright";
import type { Workspace } from "../../core/workspace.ts";
import { type BrowserSettings, browserDefaults } from "../browser-process/settings.ts";
import { type EgressProxy, startEgressProxy } from "../egress/proxy.ts";
import type { ProxiedRequest, TellRequest } from "../egress/proxy-access.ts";
import { alreadyProxied, judgedHere, throughProxy } from "./browser-egress.ts";
import { cancelled, notKept } from "./downloads.ts";
import { createNotices } from "./notices.ts";
import type { JudgeHop } from "./request-hops.ts";

const known: Record<string, string[]> = { "open.example": ["8.8.8.8"], "inside.example": ["10.0.0.1"] };
function settings(changes: Partial<BrowserSettings> = {}) {
  const requests: ProxiedRequest[] = [];
  const all: BrowserSettings = {
    ...browserDefaults,
    folder: "/nonexistent",
    policy: { allow: [], deny: ["denied.example"], only: [] },
    resolve: async (name) => known[name] ?? Promise.reject(new Error("unknown")),
    onRequest: (request) => requests.push(request),
    ...changes,
  };
  return { all, requests };
}

test("for a browser elsewhere each request and WebSocket is judged when it is made, told, and refused or let go", async () => {
  const { all, requests } = settings();
  const notices = createNotices();
  type Handler = (what: unknown) => Promise<void>;
  const handlers: { pattern: RegExp; handle: Handler }[] = [];
  const on = async (pattern: RegExp, handle: Handler) => void handlers.push({ pattern, handle });
  const way = judgedHere(all, notices);
  const judges: JudgeHop[] = [];
  await way.guard({ route: on } as unknown as BrowserContext, { add: async (judge) => void judges.push(judge) });
  const [http] = handlers;
  const [judge] = judges;
  expect([http?.pattern.test("https://x"), http?.pattern.test("data:x")]).toEqual([true, false]);
  const outcome = async (url: string) => {
    const done: string[] = [];
    const request = { method: () => "POST", url: () => url };
    const fallback = async () => void done.push("let go");
    const abort = async (why: string) => void done.push(why);
    const route = { request: () => request, fallback, abort };
    if (!url.startsWith("ws")) await http?.handle(route);
    else if (await judge?.({ method: "CONNECT", url: url.replace("ws", "http"), body: "" })) done.push("let go");
    else done.push("closed");
    return done.join();
  };
  expect(await outcome("https://open.example/a")).toBe("let go");
  // A name that only the browser's network knows is left to it.
  expect(await outcome("https://unknown.example/")).toBe("let go");
  expect(await outcome("wss://open.example/s")).toBe("let go");
  expect(notices.take()).toEqual([]);
  for (const url of [
    "http://inside.example/",
    "https://denied.example/",
    "http://10.0.0.1/",
    "https://open.example:25/",
  ])
    expect([url, await outcome(url)]).toEqual([url, "blockedbyclient"]);
  expect(await outcome("ws://inside.example/s")).toBe("closed");
  const told = notices.take();
  expect(told).toHaveLength(5);
  expect(told[0]).toMatch(/^The request POST http:\/\/inside\.example\/ was refused: .*not public/);
  expect(requests.map(({ method, target, refused }) => `${method} ${target} ${refused === undefined}`)).toEqual([
    "POST https://open.example/a true",
    "POST https://unknown.example/ true",
    "CONNECT https://open.example/s true",
    "POST http://inside.example/ false",
    "POST https://denied.example/ false",
    "POST http://10.0.0.1/ false",
    "POST https://open.example:25/ false",
    "CONNECT http://inside.example/s false",
  ]);
});

test("what a page asks for is judged once when the browser asks for it right after, and anew when it is asked for again", async () => {
  const { all, requests } = settings();
  const judges: JudgeHop[] = [];
  let handle = async (_: unknown): Promise<void> => undefined;
  const routes = {
    route: async (_: RegExp, one: typeof handle) => {
      handle = one;
    },
  };
  await judgedHere(all, createNotices()).guard(routes as unknown as BrowserContext, {
    add: async (judge) => void judges.push(judge),
  });
  const request = { method: () => "GET", url: () => "https://open.example/a" };
  const ask = () => handle({ request: () => request, fallback: async () => undefined });
  const hop = async () => await judges[0]?.({ method: "GET", url: "https://open.example/a", body: "" });
  await ask();
  expect([await hop(), requests.length]).toEqual([true, 1]);
  expect([await hop(), requests.length]).toEqual([true, 2]);
  await ask();
  expect(requests.length).toBe(2);
  await ask();
  expect(requests.length).toBe(3);
  // A message of a WebSocket goes to a server that was judged when it was opened.
  expect([await judges[0]?.({ method: "SEND", url: "http://inside.example/", body: "" }), requests.length]).toEqual([
    true,
    3,
  ]);
});

test("a browser elsewhere goes through the operator's proxy, with its credentials", () => {
  const proxyOf = (upstream?: BrowserSettings["upstream"]) =>
    judgedHere(settings({ upstream }).all, createNotices()).proxy;
  expect(proxyOf()).toBeUndefined();
  expect(proxyOf({ server: "http://p.example" })).toEqual({ server: "http://p.example" });
  const full = { server: "http://p.example", username: "", password: "q" };
  expect(proxyOf(full)).toEqual(full);
});

test("our own browser has credentials of its own for each context, learns them first, and loses them at the end", async () => {
  const { all, requests } = settings();
  const proxy = await startEgressProxy({ policy: all.policy });
  const notices = createNotices();
  const of = { notices, workspace: undefined };
  const [way, other] = [throughProxy(proxy, all, of), throughProxy(proxy, all, of)];
  expect(way.proxy).toMatchObject({ server: proxy.url, bypass: "<-loopback>" });
  expect(way.proxy?.username).not.toBe(other.proxy?.username);
  const visited: string[] = [];
  await way.begin({ goto: async (url: string) => void visited.push(url) } as unknown as Page);
  expect(visited).toEqual(["http://proxy.invalid/", "about:blank"]);
  const ask = (url: string) =>
    fetch(url, { proxy: proxy.url.replace("//", `//${way.proxy?.username}:${way.proxy?.password}@`) }).then(
      (answer) => answer.status,
    );
  expect(await ask(`http://denied.example/${"x".repeat(300)}`)).toBe(403);
  expect(notices.take()[0]).toMatch(/^The request GET http:\/\/denied\.example\/x{172,180} was refused: /);
  expect(requests).toHaveLength(1);
  way.revoke();
  expect(await ask("http://denied.example/")).toBe(407);
  await proxy.close();
});

test("a conversation's pages know the loopback of its own shell, and those of no conversation none", async () => {
  const { all } = settings({ loopback: (of, port) => `${of.root}:${port}` as never });
  const given: unknown[] = [];
  const admit: EgressProxy["admit"] = (_, loopback) => {
    given.push(loopback?.(8000) as unknown);
    return { username: "name", password: "word", revoke: () => undefined };
  };
  const proxy = { url: "http://127.0.0.1:1", admit } as EgressProxy;
  const notices = createNotices();
  for (const workspace of [{ root: "/mine" } as Workspace, undefined]) throughProxy(proxy, all, { notices, workspace });
  throughProxy(proxy, settings().all, { notices, workspace: { root: "/mine" } as Workspace });
  expect(given).toEqual(["/mine:8000", undefined, undefined]);
});

test("in the user's own browser a conversation hears of refusals until it ends", async () => {
  const listeners = new Set<TellRequest>();
  const notices = createNotices();
  const way = alreadyProxied(listeners, notices);
  expect(way.proxy).toBeUndefined();
  const refused = { method: "GET", target: "http://x/", refused: "no" };
  for (const tell of listeners) for (const request of [refused, { ...refused, refused: undefined }]) tell(request);
  expect(notices.take()).toEqual(["The request GET http://x/ was refused: no"]);
  way.revoke();
  expect(listeners.size).toBe(0);
});

test("a download that was not kept is told with its name and the reason", () => {
  const bounds = { downloadBytes: 1_500_000, downloadMs: 2_500 } as Parameters<typeof cancelled>[2];
  expect(cancelled('a"b', "bytes", bounds)).toBe('The download of "a\\"b" was cancelled: it is larger than 1.5 MB.');
  expect(cancelled("a", "time", bounds)).toBe('The download of "a" was cancelled: it took longer than 2.5 s.');
  expect(notKept("a", new Error("full"))).toBe('The download of "a" could not be kept: full');
});
