import { expect, spyOn, test } from "bun:test";
import { callerNamed } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { LiveOrder, LivePage } from "../../core/live-page.ts";
import type { RunRecord } from "../../core/runs/engine.ts";
import { type LiveDeps, liveApp } from "./live-route.ts";

/** The page of ann's task `t`; who `reads` may only do that. */
function startPage(over: Partial<LiveDeps> & { readonly page?: Partial<LivePage>; readonly kind?: string } = {}) {
  const { page: odd, kind = "manus", ...rest } = over;
  const run = { id: "t", kind, principal: "ann", contextId: "c", status: "running" as RunRecord["status"] };
  const now: { run: typeof run | undefined } = { run };
  const screens: string[] = [];
  const orders: LiveOrder[] = [];
  let isLeft = false;
  const page: LivePage = {
    async *watch(signal) {
      yield { page: "open", held: false };
      if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      isLeft = true;
    },
    order: async (order) => void orders.push(order),
    ...odd,
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
    ...rest,
  });
  const ask = (Authorization: string, init: RequestInit = {}, place = "/live/t") =>
    app.request(place, { ...init, headers: { Authorization, ...Object.fromEntries(new Headers(init.headers)) } });
  return { now, orders, screens, ask, reported, isLeft: () => isLeft };
}

/** The looks at the task come at once; the timers of those that are still to come. */
function lookingQuickly() {
  const again = globalThis.setInterval;
  const timers = new Set<unknown>();
  const looks = spyOn(globalThis, "setInterval").mockImplementation(((look: () => void, ms: number) => {
    expect(ms).toBe(1_000);
    const timer = again(look, 1);
    timers.add(timer);
    return timer;
  }) as typeof setInterval);
  const end = globalThis.clearInterval;
  const ends = spyOn(globalThis, "clearInterval").mockImplementation(((timer: Timer) => {
    timers.delete(timer);
    end(timer);
  }) as typeof clearInterval);
  return {
    timers,
    [Symbol.dispose]() {
      looks.mockRestore();
      ends.mockRestore();
    },
  };
}

const json = { "Content-Type": "application/json" };
const take = { method: "POST", headers: json, body: '{"do":"take"}' };

test("the person whose task it is sees and uses the page; the view ends when the task does", async () => {
  using _ = lookingQuickly();
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
  const long = JSON.stringify({ do: "take", more: "x".repeat(10 * 1024 * 1024) });
  expect((await ask("ann", { ...take, body: long })).status).toBe(413);
  expect(orders).toEqual([]);
  expect(reported).toEqual([]);
});

test("the view of a task that is deleted ends, and leaves its page", async () => {
  using _ = lookingQuickly();
  const { now, ask, isLeft } = startPage();
  const view = await ask("ann reads");
  now.run = undefined;
  expect((await view.text()).trimEnd()).toEndWith('data: {"ended":true}');
  expect(isLeft()).toBe(true);
});

test("the screen that is asked for is the one that is shown and used, the browser if none is, and no other", async () => {
  using _ = lookingQuickly();
  const { now, ask, screens } = startPage();
  for (const place of ["/live/t", "/live/t?screen=browser", "/live/t?screen=desktop"])
    expect((await ask("ann", take, place)).status).toBe(200);
  for (const none of ["screen=wall", "screen=browser&screen=desktop"])
    expect((await ask("ann", take, `/live/t?${none}`)).status).toBe(400);
  const view = await ask("ann", {}, "/live/t?screen=desktop");
  now.run = undefined;
  await view.text();
  expect(screens).toEqual(["browser", "browser", "desktop", "desktop"]);
});

test("a task of another kind has no page here, and where none is open nothing is done", async () => {
  const other = startPage({ kind: "swe" });
  expect([(await other.ask("ann")).status, (await other.ask("ann", take)).status]).toEqual([404, 404]);
  const none = startPage({ pageOf: async () => undefined });
  const refused = await none.ask("ann", take);
  expect([refused.status, await refused.json()]).toEqual([409, { code: "conflict", message: "No page is open." }]);
  expect([other.orders, none.orders]).toEqual([[], []]);
});

test("an order is done when it says so, what refuses it is told, and a bug is reported instead", async () => {
  const ordered = (error: Error) => startPage({ page: { order: () => Promise.reject(error) } });
  const held = await ordered(new AppError("conflict", "Somebody else has it.")).ask("ann", take);
  expect([held.status, await held.json()]).toEqual([409, { code: "conflict", message: "Somebody else has it." }]);
  const bug = new TypeError("pass-word");
  const { ask, reported } = ordered(bug);
  const broken = await ask("ann", take);
  expect([broken.status, (await broken.text()).includes("pass-word"), reported]).toEqual([500, false, [bug]]);
});

test("the view of a task that has ended shows no page of it, and one whose page goes ends without saying so", async () => {
  using quick = lookingQuickly();
  const over = startPage();
  Object.assign(over.now.run ?? {}, { status: "failed" });
  expect((await (await over.ask("ann")).text()).trim()).toBe('data: {"ended":true}');
  const gone = startPage({
    page: {
      async *watch() {
        yield { page: "open", held: false };
      },
    },
  });
  expect((await (await gone.ask("ann")).text()).trim()).toBe('data: {"page":"open","held":false}');
  expect(quick.timers.size).toBe(0);
});

test("who looks before there is a page sees that there is none yet, and then the page", async () => {
  using sleeping = spyOn(Bun, "sleep").mockResolvedValue(undefined);
  using _ = lookingQuickly();
  let left = 2;
  const opens: LivePage = {
    async *watch() {
      yield { page: "open", held: true };
    },
    order: async () => undefined,
  };
  const { ask } = startPage({ pageOf: async () => (left-- > 0 ? undefined : opens) });
  const none = 'data: {"page":"none","held":false}';
  expect((await (await ask("ann")).text()).trim()).toBe(`${none}\n\n${none}\n\ndata: {"page":"open","held":true}`);
  expect(sleeping.mock.calls).toEqual([[1_000], [1_000]]);
});

test("a store that is away for a moment does not end the view", async () => {
  using quick = lookingQuickly();
  let looks = 0;
  const run = { id: "t", kind: "manus", principal: "ann", contextId: "c", status: "running" } as unknown as RunRecord;
  const get = async () => {
    looks++;
    if (looks === 2 || looks === 3) throw new AppError("storage_unavailable", "It is away.");
    return { ...run, status: looks > 4 ? "completed" : "running" } as RunRecord;
  };
  const text = await (await startPage({ engine: { get } }).ask("ann")).text();
  expect(text.trimEnd()).toEndWith('data: {"ended":true}');
  expect([looks >= 5, quick.timers.size]).toEqual([true, 0]);
});

test("a viewer that leaves leaves the page, however it goes", async () => {
  using quick = lookingQuickly();
  const caller = new AbortController();
  const reading = startPage();
  const view = (await reading.ask("ann", { signal: caller.signal })).text();
  caller.abort();
  expect(await view).not.toContain("ended");
  expect([reading.isLeft(), quick.timers.size]).toEqual([true, 0]);
  const cancelling = startPage();
  const reader = (await cancelling.ask("ann")).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect([cancelling.isLeft(), quick.timers.size]).toEqual([true, 0]);
});

test("a view that breaks off says why as others may know it", async () => {
  const breaking = (error: Error) =>
    startPage({
      page: {
        async *watch() {
          yield { page: "open", held: false };
          throw error;
        },
      },
    });
  const last = async (error: Error) => (await (await breaking(error).ask("ann")).text()).trim().split("\n\n").at(-1);
  expect(await last(new AppError("unavailable", "It crashed."))).toBe(
    'event: error\ndata: {"code":"unavailable","message":"It crashed."}',
  );
  const bug = await last(new TypeError("pass-word"));
  expect(bug).toStartWith('event: error\ndata: {"code":"internal"');
  expect(bug).not.toContain("pass-word");
});

test.each([
  ["unauthorized", 401, "WWW-Authenticate", "Bearer"],
  ["storage_unavailable", 503, "Retry-After", "5"],
] as const)(
  "a request that is refused as %s is told what it lacks, as by all routes",
  async (code, status, name, value) => {
    const { ask } = startPage({ identify: () => Promise.reject(new AppError(code, "Not now.")) });
    const answer = await ask("ann");
    expect([answer.status, answer.headers.get(name)]).toEqual([status, value]);
  },
);
