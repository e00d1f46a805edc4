import { expect, test } from "bun:test";
import { callerNamed } from "../../core/caller.ts";
import type { LiveOrder, LivePage } from "../../core/live-page.ts";
import type { RunRecord } from "../../core/runs/engine.ts";
import { liveApp } from "./live-route.ts";

/** The page of ann's task `t`; `sam` may only read. */
function startPage(status: RunRecord["status"] = "running") {
  const run = { id: "t", kind: "manus", principal: "ann", contextId: "c", status };
  const now: { run: typeof run | undefined } = { run };
  const screens: string[] = [];
  const orders: LiveOrder[] = [];
  let isLeft = false;
  const page: LivePage = {
    async *watch(signal) {
      yield { page: "open", held: false };
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      isLeft = true;
    },
    order: async (order) => void orders.push(order),
  };
  const reported: unknown[] = [];
  const app = liveApp({
    kind: "manus",
    engine: { get: async (id) => (id === "t" ? (now.run as unknown as RunRecord) : undefined) },
    identify({ headers }) {
      const [name = "", scope] = (headers.get("Authorization") ?? "").split(" ");
      return callerNamed(name, scope === undefined ? ["run", "read"] : ["read"]);
    },
    heartbeatMs: 8_000,
    report: (bug) => void reported.push(bug),
    async pageOf(_, screen) {
      screens.push(screen);
      return page;
    },
  });
  const ask = (Authorization: string, init: RequestInit = {}, place = "/live/t") =>
    app.request(place, { ...init, headers: { Authorization, ...Object.fromEntries(new Headers(init.headers)) } });
  return { now, orders, screens, ask, reported, isLeft: () => isLeft };
}

const json = { "Content-Type": "application/json" };
const take = { method: "POST", headers: json, body: '{"do":"take"}' };

test("the person whose task it is sees and uses the page; the view ends when the task does", async () => {
  const { now, orders, ask, isLeft } = startPage();
  expect((await ask("ann", take)).status).toBe(200);
  expect(orders).toEqual([{ do: "take" }]);
  const view = await ask("ann reads");
  Object.assign(now.run ?? {}, { status: "completed" });
  const text = await view.text();
  expect(text).toContain('"page":"open"');
  expect(text.trimEnd().endsWith('data: {"ended":true}')).toBe(true);
  expect(isLeft()).toBe(true);
  expect((await ask("ann", take)).status).toBe(409);
});

test("another principal, a caller who only reads, a form and an order that is none do nothing, and no refusal repeats what was sent", async () => {
  const { orders, ask, reported } = startPage();
  const typed = { method: "POST", headers: json, body: '{"do":"input","inputs":[{"type":"text","txt":"pass-word"}]}' };
  const attempts: [string, RequestInit?, string?][] = [
    ["bob"],
    ["bob", take],
    ["ann reads", take],
    ["ann", take, "/live/other"],
    ["ann", { ...take, headers: { "Content-Type": "text/plain" } }],
    ["ann", { ...take, headers: { "Content-Type": "application/x-www-form-urlencoded" } }],
    ["ann", typed],
    ["ann", { ...take, body: "pass-word" }],
  ];
  for (const [who, init, place] of attempts) {
    const answer = await ask(who, init, place);
    expect([who, answer.status >= 400 && answer.status < 500]).toEqual([who, true]);
    expect(await answer.text()).not.toContain("pass-word");
  }
  expect(orders).toEqual([]);
  expect(reported).toEqual([]);
});

test("the view of a task that is deleted ends, and leaves its page", async () => {
  const { now, ask, isLeft } = startPage();
  const view = await ask("ann reads");
  now.run = undefined;
  expect((await view.text()).trimEnd()).toEndWith('data: {"ended":true}');
  expect(isLeft()).toBe(true);
});

test("the screen that is asked for is the one that is shown and used, the browser if none is, and no other", async () => {
  const { now, ask, screens } = startPage();
  for (const place of ["/live/t", "/live/t?screen=browser", "/live/t?screen=desktop"])
    expect((await ask("ann", take, place)).status).toBe(200);
  expect((await ask("ann", take, "/live/t?screen=wall")).status).toBe(400);
  const view = await ask("ann", {}, "/live/t?screen=desktop");
  now.run = undefined;
  await view.text();
  expect(screens).toEqual(["browser", "browser", "desktop", "desktop"]);
});
