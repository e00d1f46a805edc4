import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { browserByHand, settled, until, withoutWaiting } from "../testing/browser-by-hand.ts";

const at = browserByHand();
afterAll(() => at[Symbol.dispose]());
beforeEach(() => at.reset());

const refusal = (status: number) => () => Response.json({ code: "x" }, { status });
const stream = (text: string) => () => new Response(text);
const away = () => Promise.reject(new TypeError("The gateway is away."));
const never = new Promise<Response>(() => undefined);
type Listed = { readonly id: string; readonly status: string; readonly updatedAt: string; readonly lastEvent: number };
const run = (id: string, updatedAt = id, status = "running", lastEvent = 1): Listed => ({
  ...{ id, updatedAt, status, lastEvent },
});
const idsOf = (runs: readonly Listed[] | undefined) => runs?.map(({ id }) => id);

test("what changed is told to every tab, and a broken connection is made again, later each time", async () => {
  using time = withoutWaiting();
  const { listenToChanges } = await at.load("api/changes.ts");
  const change = (id: string) => `data: ${JSON.stringify({ runs: [{ id }] })}\n\n`;
  const answers = [
    stream(change("a") + change("b")),
    refusal(404),
    stream(change("c")),
    stream('event: error\ndata: {"runs":[]}\n\n'),
    ...[away, refusal(503), away, away],
  ];
  at.answer = () => answers.shift()?.() ?? never;
  const told: object[] = [];
  listenToChanges((notice: object) => told.push(notice));
  await until(() => at.asked.length === 9);
  expect(new Set(at.asked)).toEqual(new Set(["GET ./changes"]));
  expect(time.waits).toEqual([500, 10_000, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
  const lost = { connected: false };
  expect(told).toEqual([
    ...[{ connected: true }, { change: { runs: [{ id: "a" }], all: true } }, { change: { runs: [{ id: "b" }] } }, lost],
    ...[lost, { connected: true }, { change: { runs: [{ id: "c" }], all: true } }],
    ...[lost, lost, lost, lost, lost, lost],
  ]);
  const [channel] = at.channels;
  expect(channel?.posted).toEqual(told);
  channel?.onmessage?.({ data: lost });
  expect(told).toHaveLength(14);
  // Whoever has another token is told of other runs.
  at.kept.set("manyhands-token", "other");
  at.givesLocks = false;
  listenToChanges(() => undefined);
  expect(at.locks).toEqual(at.channels.map(({ name }) => name));
  expect(new Set(at.locks).size).toBe(2);
});

test("the newest runs and those that wait are read, the longest wait first, and drawn again only if they changed", async () => {
  const store = await at.load("state/store.ts");
  const answer = (path: string) =>
    Response.json({ runs: path.includes("status=") ? [run("b"), run("a", "a", "paused")] : [run("c")] });
  at.answer = answer;
  await store.refreshRuns();
  expect(at.asked.toSorted()).toEqual([
    "GET ./runs?limit=5&count=0",
    "GET ./runs?status=input-required%2Cauth-required%2Cpaused&limit=50",
  ]);
  const [recent, waiting] = [store.recent.value, store.waiting.value];
  expect([idsOf(recent), idsOf(waiting), store.connected.value]).toEqual([["c"], ["a", "b"], true]);
  at.answer = away;
  await store.refreshRuns();
  expect(store.connected.value).toBe(false);
  at.answer = answer;
  await store.refreshRuns();
  expect([store.recent.value === recent, store.waiting.value === waiting, store.connected.value]).toEqual([
    ...[true, true, true],
  ]);
  const states = ["input-required", "auth-required", "paused", "running", "completed"];
  expect(states.filter(store.waitsForPerson)).toEqual(states.slice(0, 3));
  store.agents.value = ["up", "down", "starting"].map((health) => ({ name: health, health }));
  expect(store.agentsUp.value).toHaveLength(1);
});

test("lists are read again when what they show is another now, once more if it changed meanwhile, and until it succeeds", async () => {
  using time = withoutWaiting();
  const store = await at.load("state/store.ts");
  at.givesLocks = false;
  const lists = async (path: string) =>
    Response.json({ runs: path.includes("status=") ? [run("a", "a", "paused")] : [run("c")], agents: [], flows: [] });
  at.answer = lists;
  const before = at.channels.length;
  store.startStore(() => undefined);
  await until(() => at.channels.length > before);
  const channel = at.channels.at(-1);
  const tell = (notice: object) => channel?.onmessage?.({ data: notice });
  const askedBy = async (change: object) => {
    at.asked.length = 0;
    tell({ change });
    expect(store.lastChange.value).toBe(change);
    await settled();
    return at.asked.map((path) => /\w+(?=\?|$)/.exec(path)?.[0]);
  };
  const of = (id: string, status: string) => ({ runs: [{ id, status }] });
  expect(await askedBy(of("c", "running"))).toEqual([]);
  expect(await askedBy({ runs: [] })).toEqual([]);
  expect(await askedBy(of("c", "completed"))).toEqual(["runs", "runs"]);
  expect(await askedBy(of("a", "paused"))).toEqual(["runs", "runs"]);
  expect(await askedBy(of("new", "running"))).toEqual(["runs", "runs"]);
  expect(await askedBy({ runs: [], more: true })).toEqual(["runs", "runs"]);
  expect(await askedBy({ runs: [], all: true })).toEqual(["runs", "runs", "agents"]);
  expect(await askedBy({ runs: [], agents: true })).toEqual(["agents"]);
  for (const connected of [false, true]) {
    tell({ connected });
    expect(store.connected.value).toBe(connected);
  }
  const gate = Promise.withResolvers<void>();
  at.answer = async (path) => {
    await gate.promise;
    return lists(path);
  };
  at.asked.length = 0;
  for (let times = 0; times < 3; times++) tell({ change: { runs: [], more: true } });
  expect(at.asked).toHaveLength(2);
  gate.resolve();
  await until(() => at.asked.length === 4);
  const failures = [away, away];
  at.answer = (path) => failures.shift()?.() ?? lists(path);
  expect(time.waits).toEqual([]);
  await askedBy({ runs: [], more: true });
  await until(() => at.asked.length === 4);
  expect([time.waits, at.asked.length]).toEqual([[2_000], 4]);
  await until(() => store.connected.value);
});

test("a list is read page by page, keeps its places while runs change, and counts what is new until it is shown", async () => {
  using _ = withoutWaiting();
  const { openListStore } = await at.load("pages/runs/list-store.ts");
  const { lastChange } = await at.load("state/store.ts");
  let first = [run("5"), run("4")];
  at.answer = (path) =>
    path.includes("cursor=next")
      ? Response.json({ runs: [run("5"), run("3")] })
      : Response.json({ runs: first, total: first.length + 1, nextCursor: "next" });
  const store = openListStore({});
  await until(() => store.runs.value !== undefined);
  expect([idsOf(store.runs.value), store.total.value, store.cursor.value]).toEqual([["5", "4"], 3, "next"]);
  await Promise.all([store.more(), store.more()]);
  expect([idsOf(store.runs.value), store.total.value, store.cursor.value]).toEqual([["5", "4", "3"], 3, undefined]);
  expect(at.asked).toHaveLength(2);
  // Seven is new, two is older than what is shown, and four has changed.
  first = [run("7"), run("4", "6", "completed", 2), run("5", "5", "failed", 1), run("2")];
  const looked = async (change: object) => {
    at.asked.length = 0;
    lastChange.value = change;
    await settled();
    return at.asked.length;
  };
  expect(await looked({ runs: [] })).toBe(0);
  const [five] = store.runs.value;
  expect(await looked({ runs: [{ id: "4" }] })).toBe(1);
  expect(at.asked[0]).toContain("limit=50");
  expect(idsOf(store.runs.value)).toEqual(["5", "4", "3"]);
  expect(store.runs.value.map(({ status }: Listed) => status)).toEqual(["running", "completed", "running"]);
  expect([store.runs.value[0] === five, idsOf(store.fresh.value), store.total.value]).toEqual([true, ["7"], 5]);
  await store.showNew();
  expect([idsOf(store.runs.value), store.fresh.value]).toEqual([["7", "4", "5", "2"], []]);
  store.removed(new Set(["4", "2"]));
  expect(idsOf(store.runs.value)).toEqual(["7", "5"]);
  at.document.hidden = true;
  expect(await looked({ runs: [], more: true })).toBe(0);
  at.document.hidden = false;
  at.fire("visibilitychange");
  await until(() => at.asked.length === 1);
  at.fire("visibilitychange");
  expect(await looked({ runs: [], all: true })).toBe(1);
  // Hidden between a change and the look that was to come of it.
  at.asked.length = 0;
  lastChange.value = { runs: [], more: true };
  at.document.hidden = true;
  await settled();
  expect(at.asked).toEqual([]);
  at.document.hidden = false;
  at.fire("visibilitychange");
  await until(() => at.asked.length === 1);
  store.close();
  expect([await looked({ runs: [], all: true }), at.listeners("visibilitychange")]).toEqual([0, 0]);
});

test("a search is not done again by itself, looks are two seconds apart, and a list that cannot be read is empty", async () => {
  using time = withoutWaiting();
  using _ = spyOn(performance, "now").mockReturnValue(5_000);
  const { openListStore } = await at.load("pages/runs/list-store.ts");
  const { lastChange } = await at.load("state/store.ts");
  for (const filters of [{ q: "x" }, { agent: "swe" }, { minUsd: "1" }, { status: "failed" }]) {
    at.asked.length = 0;
    const store = openListStore(filters);
    await until(() => store.runs.value !== undefined);
    time.waits.length = 0;
    lastChange.value = { runs: [], all: true };
    await settled();
    expect([filters, at.asked.length, time.waits]).toEqual([filters, "status" in filters ? 2 : 1, [0]] as never);
    lastChange.value = { runs: [], more: true };
    expect(time.waits[1]).toBe(2_000);
    store.close();
  }
  // How long a complaint is shown.
  const complaints = () => time.waits.filter((ms) => ms === 12_000).length;
  at.answer = () => never;
  const left = openListStore({});
  left.close();
  at.answer = away;
  const store = openListStore({});
  store.close();
  await until(() => store.runs.value !== undefined && !store.busy.value);
  expect([store.runs.value, complaints()]).toEqual([[], 0]);
  const open = openListStore({});
  await until(() => !open.busy.value);
  expect([open.runs.value, complaints()]).toEqual([[], 1]);
  open.close();
});
