import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { ListFilter, RunStatus } from "../../../core/runs/engine.ts";
import { offerOf } from "../../offer.ts";
import { claim } from "../workers/offers.ts";
import { storedOffer } from "./claims-table.ts";
import type { Result, RunRow } from "./runs-table.ts";
import { migrate } from "./schema.ts";
import { prepareTables } from "./tables.ts";

/** The statements over a store in memory; every run gets the next number. */
function store() {
  const db = new Database(":memory:", { strict: true });
  migrate(db, ":memory:");
  const tables = prepareTables(db);
  let made = 0;
  return {
    tables,
    db,
    /** Adds a run; `due` orders its claim. */
    run(
      over: {
        id?: string;
        kind?: string;
        principal?: string;
        contextId?: string;
        due?: number;
        wall?: number;
        key?: string;
        counted?: 0 | 1;
        owner?: string;
        result?: Result;
      } = {},
    ): number {
      const { id = `r${++made}`, kind = "k", principal = "ann", contextId = "c", due = made, wall = 0, key } = over;
      const about = { id, kind, principal, contextId, input: "null", dedupeKey: key ?? null, dedupeHash: null };
      const seat = {
        owner: over.owner ?? null,
        body: over.owner === undefined ? null : 1,
        lastEvent: 0,
        result: over.result,
      };
      return tables.runs.insert({ ...about, ...seat, counted: over.counted ?? 0, wall, steady: due })?.n ?? Number.NaN;
    },
    row: (n: number) =>
      db
        .query<RunRow & { due: number | null; awaited: string | null }, [number]>("SELECT * FROM runs WHERE n = ?")
        .get(n),
    worker: (id: string) => tables.workers.insert(id, { host: "h", pid: 1, processStart: "" }),
  };
}

const at = (steady: number, wall = steady) => ({ wall, steady });
const kinds = (...names: readonly string[]) =>
  storedOffer(offerOf(names.map((kind) => ({ kind, execute: async () => null }))));
const idle = { owner: null, due: null, awaited: null, waiting_signal: null, waiting_reason: null };
const question = { signal: "message", reason: "input-required" };

test("the run that has waited longest is claimed first, at most as many as there is room for, each under a new epoch", () => {
  const { tables, run, row, worker } = store();
  worker("w");
  const [late, early, middle] = [run({ due: 9 }), run({ due: 1 }), run({ due: 5 })];
  const claimed = tables.claims.claim(kinds("k"), "w", 2, at(5, 50)).map(({ n }) => n);
  expect(claimed.toSorted()).toEqual([early, middle].toSorted());
  expect(row(early)).toMatchObject({ ...idle, status: "running", owner: "w", epoch: 1, updated_at: 50 });
  expect(row(late)).toMatchObject({ status: "queued", owner: null, epoch: 0 });
  tables.claims.handBack("w", at(7, 70));
  expect(row(early)).toMatchObject({ status: "queued", owner: null, due: 7, updated_at: 70, epoch: 1 });
  tables.claims.claim(kinds("k"), "w", 9, at(9, 90));
  // With room for all of them it is the same.
  expect(row(early)).toMatchObject({ ...idle, status: "running", owner: "w", epoch: 2, updated_at: 90 });
});

test("with little room principals take turns in the order of their names, whatever the kinds of their runs", () => {
  const { tables, run, worker } = store();
  worker("w");
  const of = (principal: string, kind: string) => run({ principal, kind });
  const bob = [of("bob", "k"), of("bob", "l")];
  const [carol, ann] = [of("carol", "l"), of("ann", "l")];
  const next = (served?: string) => tables.claims.claim(kinds("k", "l"), "w", 1, at(9), served).map(({ n }) => n);
  expect([next(), next("ann"), next("bob")]).toEqual([[ann], [bob[0] as number], [carol]]);
  run({ principal: "zoe", kind: "k" });
  // Nobody comes after the last one, so that the first is next.
  expect(next("zoe")).toEqual([bob[1] as number]);
});

test.each<readonly [string, RunStatus, number | undefined, boolean]>([
  ["queued", "queued", undefined, true],
  ["asleep until a moment ago", "waiting", 4, true],
  ["asleep until now", "waiting", 5, true],
  ["asleep for longer", "waiting", 6, false],
  ["waiting for a signal alone", "waiting", undefined, false],
  ["paused", "paused", undefined, false],
  ["over", "completed", undefined, false],
])("a run that is %s is claimable, or is not", (_, status, wakeAt, claimable) => {
  const { tables, run, row, worker } = store();
  worker("w");
  const n = run();
  const parking = { signals: ["message"], shown: question, ...(wakeAt !== undefined && { wakeAt }) };
  if (status === "waiting") tables.states.park(n, parking, at(0));
  if (status === "paused") tables.states.pause(n, { code: "internal", message: "x" }, at(0));
  if (status === "completed") tables.states.end(n, { status, output: "null", error: null }, at(0));
  expect(tables.claims.any(kinds("other", "k"), at(5))).toBe(claimable);
  expect(tables.claims.any(kinds("other"), at(5))).toBe(false);
  expect(tables.claims.claim(kinds("other"), "w", 9, at(5))).toEqual([]);
  expect(tables.claims.claim(kinds("k"), "gone", 9, at(5))).toEqual([]);
  expect(tables.claims.claim(kinds("k"), "w", 9, at(5)).map((one) => one.n)).toEqual(claimable ? [n] : []);
  if (claimable) expect(row(n)).toMatchObject({ ...idle, owner: "w", status: "running" });
});

test("no statement is limited by a bare parameter: SQLite prepares such a one anew whenever it runs", async () => {
  for (const file of new Bun.Glob("*-table.ts").scanSync(import.meta.dir))
    expect(await Bun.file(join(import.meta.dir, file)).text()).not.toMatch(/LIMIT \?/);
  expect(await Bun.file(join(import.meta.dir, "listing.ts")).text()).not.toMatch(/LIMIT \?/);
});

test("a run is stored under its key once, as it is by then, and tells its number", () => {
  const { tables, run, row, worker } = store();
  worker("w");
  const first = run({ owner: "w", key: "k", result: { status: "completed", output: "7", error: null } });
  expect(row(first)).toMatchObject({ n: first, status: "completed", output: "7", owner: null, epoch: 1, body: 1 });
  expect(run({ key: "k" })).toBeNaN();
  expect(run({ key: "k", principal: "bob" })).toBe(first + 1);
  tables.runs.releaseKey(first);
  expect(run({ key: "k" })).toBe(first + 2);
});

test("a run is accepted for a worker that is there, and what a worker holds is listed and handed back alone", () => {
  const { tables, run, row, worker } = store();
  for (const id of ["w", "v"]) worker(id);
  const [one, two] = [run({ owner: "w", wall: 10 }), run({ owner: "v" })];
  expect(row(one)).toMatchObject({ status: "running", owner: "w", epoch: 1, body: 1, due: null, updated_at: 10 });
  expect([run({ owner: "gone" }), row(run())?.status]).toEqual([Number.NaN, "queued"]);
  tables.states.requestCancel(two, at(1));
  expect(tables.claims.owned("v")).toEqual([{ id: "r2", epoch: 1, cancel_requested: 1 }]);
  tables.claims.handBack("v", at(2));
  expect([row(one)?.status, row(two)?.status]).toEqual(["running", "queued"]);
});

test("the next moment at which a run wakes is the earliest of those asleep", () => {
  const { tables, run } = store();
  run({ due: 1 });
  expect(tables.claims.nextDue()).toBeUndefined();
  for (const wakeAt of [30, 20, undefined])
    tables.states.park(run(), { signals: [], ...(wakeAt !== undefined && { wakeAt }) }, at(0));
  expect(tables.claims.nextDue()).toBe(20);
});

test("a run that waits shows for what, belongs to nobody, and is woken by the signals it waits for alone", () => {
  const { tables, run, row, worker } = store();
  worker("w");
  const n = run({ owner: "w" });
  tables.states.park(n, { signals: ["message", "go"], shown: question, wakeAt: 99 }, at(2, 20));
  const waiting = {
    status: "waiting",
    owner: null,
    due: 99,
    waiting_signal: "message",
    waiting_reason: "input-required",
  };
  expect(row(n)).toMatchObject({ ...waiting, awaited: '["message","go"]', updated_at: 20 });
  tables.states.wake(n, "mess", at(3));
  expect(row(n)?.status).toBe("waiting");
  tables.states.wake(n, "go", at(3, 30));
  expect(row(n)).toMatchObject({ ...idle, status: "queued", due: 3, updated_at: 30 });
  tables.claims.claim(kinds("k"), "w", 1, at(4));
  tables.states.wake(n, "go", at(5));
  expect(row(n)?.status).toBe("running");
});

test("what pauses, resumes and ends a run leaves nothing of what it waited for, or of why it was paused", () => {
  const { tables, run, row } = store();
  const n = run();
  const error = { code: "internal", message: "x" } as const;
  const park = () => tables.states.park(n, { signals: ["go"], shown: question, wakeAt: 9 }, at(1));
  park();
  tables.states.pause(n, error, at(2, 20));
  expect(row(n)).toMatchObject({ ...idle, status: "paused", error: JSON.stringify(error), updated_at: 20 });
  tables.states.queue(n, at(3, 30));
  expect(row(n)).toMatchObject({ ...idle, due: 3, status: "queued", error: null, updated_at: 30 });
  park();
  tables.states.end(n, { status: "failed", output: null, error: JSON.stringify(error) }, at(4, 40));
  expect(row(n)).toMatchObject({
    ...idle,
    status: "failed",
    output: null,
    error: JSON.stringify(error),
    updated_at: 40,
  });
  tables.states.end(n, { status: "completed", output: "1", error: null }, at(5));
  expect(row(n)).toMatchObject({ status: "completed", output: "1", error: null });
  tables.states.requestCancel(n, at(6, 60));
  expect(row(n)).toMatchObject({ cancel_requested: 1, updated_at: 60 });
});

test("a lease holds for its run, its worker and its claim alone", () => {
  const { tables, run, worker } = store();
  worker("w");
  const [n, other] = [run({ owner: "w" }), run({ owner: "w" })];
  tables.claims.handBack("w", at(2));
  tables.claims.claim(kinds("k"), "w", 1, at(3));
  const lease = { n, owner: "w", epoch: 2 };
  expect(tables.states.held(lease)).toEqual({ cancel_requested: 0 });
  for (const over of [{ n: other }, { owner: "v" }, { epoch: 1 }, { epoch: 3 }])
    expect(tables.states.held({ ...lease, ...over })).toBeNull();
});

test("signals are taken once, in the order of their arrival, each by one place, and given back by that place alone", () => {
  const { tables, run } = store();
  const [n, other] = [run(), run()];
  const { signals } = tables;
  for (const id of ["1", "2", "3"]) expect(signals.insert(n, "go", id, `"${id}"`)).toBe(true);
  expect(signals.insert(n, "go", "2", '"again"')).toBe(false);
  expect(signals.insert(n, "stop", "2", '"stop"')).toBe(true);
  expect(signals.insert(other, "go", "2", '"other"')).toBe(true);
  expect([signals.has(n, "go", "2"), signals.has(n, "go", "9"), signals.has(other, "stop", "2")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([signals.isFree(n, "go"), signals.isFree(n, "no"), signals.isFree(other, "stop")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([signals.takeFirst(n, "go", "a"), signals.takeFirst(n, "go", "b")]).toEqual(['"1"', '"2"']);
  signals.insert(n, "go", "0", '"last"');
  expect(signals.takeAll(n, "go", "c")).toEqual(['"3"', '"last"']);
  expect([signals.isFree(n, "go"), signals.takeFirst(n, "go", "d")]).toEqual([false, undefined]);
  signals.giveBack(other, "a");
  expect(signals.isFree(n, "go")).toBe(false);
  signals.giveBack(n, "a");
  expect(signals.takeAll(n, "go", "e")).toEqual(['"1"']);
  expect(signals.takeAll(other, "go", "e")).toEqual(['"other"']);
});

test("a recorded result never changes, unless it is reopened", () => {
  const { tables, run } = store();
  const [n, other] = [run(), run()];
  const { journal } = tables;
  const row = { path: "1", kind: "step", name: "s" } as const;
  journal.put(n, { ...row, state: "started" });
  journal.put(n, { ...row, state: "done", out: "1", error: { code: "internal", message: "x" } });
  journal.put(n, { ...row, state: "started", out: "2" });
  const done = { ...row, state: "done", out: "1", error: { code: "internal", message: "x" } } as const;
  expect(journal.ofRun(n)).toEqual([done]);
  journal.put(other, { ...row, state: "done" });
  journal.put(n, { ...row, path: "2", state: "done" });
  journal.reopen(n, "1");
  expect(journal.ofRun(n).toSorted((a, b) => a.path.localeCompare(b.path))).toMatchObject([
    { path: "1", state: "started" },
    { path: "2", state: "done" },
  ]);
  expect(journal.ofRun(n)[0]).not.toHaveProperty("out");
  expect(journal.ofRun(other)).toEqual([{ ...row, state: "done" }]);
});

test("events are numbered without a gap within their run, and read in order from any place", () => {
  const { tables, run, row } = store();
  const [n, other] = [run(), run()];
  const { events } = tables;
  const told = (...types: readonly string[]) => types.map((type) => ({ type }));
  expect(events.append(n, [], at(1, 10))).toBe(0);
  expect(row(n)?.updated_at).toBe(0);
  expect([
    events.append(n, told("a", "b"), at(1, 10)),
    events.append(other, told("x"), at(1)),
    events.append(n, told("c"), at(2, 20)),
  ]).toEqual([2, 1, 3]);
  const read = (after: number, limit: number) =>
    events.after({ n, id: "r1" }, after, limit).map(({ seq, at, event }) => [seq, at, event.type]);
  expect(read(0, 9)).toEqual([
    [1, 10, "a"],
    [2, 10, "b"],
    [3, 20, "c"],
  ]);
  expect([read(1, 1), read(3, 9)]).toEqual([[[2, 10, "b"]], []]);
  expect(row(n)).toMatchObject({ last_event: 3, updated_at: 20 });
  expect(() => events.append(99, told("a"), at(1))).toThrow("Events need a run.");
});

test("a worker beats while it is known, and is declared dead only if it has not beaten since", () => {
  const { tables, worker } = store();
  const { workers } = tables;
  for (const id of ["w", "v"]) worker(id);
  expect([workers.beat("w"), workers.beat("gone")]).toEqual([true, false]);
  expect(Object.fromEntries(workers.all().map(({ id, beat }) => [id, beat]))).toEqual({ w: 1, v: 0 });
  expect([workers.removeUnmoved("w", 0), workers.removeUnmoved("w", 1), workers.removeUnmoved("w", 1)]).toEqual([
    false,
    true,
    false,
  ]);
  workers.remove("gone");
  expect(workers.all().map(({ id }) => id)).toEqual(["v"]);
  workers.remove("v");
  expect(workers.all()).toEqual([]);
  // What tells a process from a later one of its number.
  const identity = { host: "here", pid: 7, processStart: "123" };
  workers.insert("u", identity);
  expect(workers.all()).toEqual([{ id: "u", beat: 0, ...identity }]);
});

test("what a principal uses is counted by day; runs that are over, or part of others, are not under way", () => {
  const { tables, run } = store();
  const { usage } = tables;
  const day = Date.parse("2026-03-01T23:59:59.999Z");
  for (const status of ["queued", "waiting", "paused", "completed", "failed", "canceled"] as const) {
    const n = run({ counted: 1 });
    if (status === "waiting") tables.states.park(n, { signals: [] }, at(0));
    else if (status === "paused") tables.states.pause(n, { code: "internal", message: "" }, at(0));
    else if (status !== "queued") tables.states.end(n, { status, output: null, error: null }, at(0));
  }
  run({ counted: 0 });
  run({ counted: 1, principal: "bob" });
  usage.spend("ann", { tokens: 3, usd: 0.5 }, day);
  usage.spend("ann", { tokens: 4, usd: 0.25 }, day);
  usage.spend("ann", { tokens: 100, usd: 1 }, day + 1);
  usage.spend("bob", { tokens: 1_000, usd: 1 }, day);
  expect(usage.of("ann", day)).toEqual({ day: "2026-03-01", runs: 3, tokens: 7, usd: 0.75 });
  expect(usage.of("ann", day + 1)).toEqual({ day: "2026-03-02", runs: 3, tokens: 100, usd: 1 });
  expect(usage.of("carol", day)).toEqual({ day: "2026-03-01", runs: 0, tokens: 0, usd: 0 });
});

test("each filter of a list leaves out what it does not fit, and only that", () => {
  const { tables, run } = store();
  const plain = run({ wall: 10 });
  const others = {
    principal: run({ principal: "bob", wall: 10 }),
    kind: run({ kind: "other", wall: 10 }),
    contextId: run({ contextId: "elsewhere", wall: 10 }),
    updatedSince: run({ wall: 9 }),
    statuses: run({ wall: 10 }),
  };
  tables.states.park(others.statuses, { signals: ["message"], shown: question }, at(10));
  const every = [plain, ...Object.values(others)];
  const list = (filter: Partial<ListFilter>) => {
    const { rows, total } = tables.listing.page({ limit: 99, ...filter });
    expect(total).toBe(rows.length);
    return rows.map(({ n }) => n).toSorted();
  };
  const without = (n: number) => every.filter((one) => one !== n).toSorted();
  expect(list({})).toEqual(every.toSorted());
  expect(list({ principal: "ann" })).toEqual(without(others.principal));
  expect(list({ kind: "k" })).toEqual(without(others.kind));
  expect(list({ kinds: ["x", "k"] })).toEqual(without(others.kind));
  expect(list({ contextId: "c" })).toEqual(without(others.contextId));
  expect(list({ updatedSince: 10 })).toEqual(without(others.updatedSince));
  expect(list({ statuses: ["paused", "queued"] })).toEqual(without(others.statuses));
  expect(list({ waitingReason: "input-required" })).toEqual([others.statuses]);
  expect([list({ kinds: [] }), list({ statuses: [] })]).toEqual([[], []]);
});

test("runs that a run of the same principal asked for can be left out, whoever else uses its id", () => {
  const { tables, run } = store();
  const asker = "0".repeat(36);
  const key = (id: string) => JSON.stringify(["k", "ann", id]);
  const own = run({ id: asker });
  const asked = run({ key: key(`${asker}/1`) });
  const rest = [
    run({ key: key(`${asker}/1`), principal: "bob" }),
    run({ key: key(`${"1".repeat(36)}/1`) }),
    run({ key: "no JSON" }),
    run(),
  ];
  const list = (filter: Partial<ListFilter>) =>
    tables.listing
      .page({ limit: 99, ...filter })
      .rows.map(({ n }) => n)
      .toSorted();
  expect(list({ asked: false })).toEqual([own, ...rest].toSorted());
  expect(list({})).toContain(asked);
});

test("pages follow one another, newest first, also among runs of the same moment; the last one has no next", () => {
  const { tables, run } = store();
  for (const [id, wall] of [
    ["a", 1],
    ["b", 2],
    ["c", 2],
    ["d", 2],
    ["e", 3],
  ] as const)
    run({ id, wall });
  const { page } = tables.listing;
  const pages: string[] = [];
  for (let cursor: string | undefined, n = 0; n === 0 || cursor !== undefined; n++) {
    const { rows, total, nextCursor } = page({ limit: 2, ...(cursor !== undefined && { cursor }) });
    expect(total).toBe(5);
    pages.push(rows.map(({ id }) => id).join(""));
    cursor = nextCursor;
  }
  expect(pages).toEqual(["ed", "cb", "a"]);
  expect(page({ limit: 5 }).nextCursor).toBeUndefined();
  for (const cursor of ["x", Buffer.from("[1]").toString("base64url"), Buffer.from('["1","a"]').toString("base64url")])
    expect(() => page({ limit: 1, cursor })).toThrow("The cursor does not come from this list.");
});

test("a key finds its principal's run until it is released, and a run is found by its id and its own principal", () => {
  const { tables, run } = store();
  const n = run({ id: "mine", key: "key" });
  const { runs } = tables;
  expect([runs.byKey("ann", "key")?.n, runs.byKey("bob", "key"), runs.byKey("ann", "other")]).toEqual([n, null, null]);
  runs.releaseKey(n);
  expect(runs.byKey("ann", "key")).toBeNull();
  expect([runs.byId("mine")?.n, runs.ofPrincipal("mine", "ann")?.n, runs.ofPrincipal("mine", "bob")]).toEqual([
    n,
    n,
    null,
  ]);
});

test("a deleted run leaves the index of words with what it said", () => {
  const { tables, db, run } = store();
  const n = run();
  db.run("UPDATE runs SET status = 'completed'");
  tables.search.enter(n, [1, 2, 3]);
  const stored = () => db.query("SELECT count(*) AS count FROM search_content").get();
  expect(stored()).toEqual({ count: 1 });
  tables.deletion.remove(n);
  expect(stored()).toEqual({ count: 0 });
  expect(db.query("SELECT v FROM search_config WHERE k = 'secure-delete'").get()).toEqual({ v: 1 });
});

test("the index of words helps as long as no more than five thousand runs may say them", () => {
  const { tables, db, run } = store();
  const add = (count: number, id: string) =>
    db.run(
      `INSERT INTO runs (id, kind, status, principal, context_id, input, epoch, created_at, updated_at)
       WITH RECURSIVE more (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < ?1)
       SELECT ?2 || n, 'k', 'completed', 'ann', 'c', 'null', 0, 0, 0 FROM more`,
      [count, id],
    );
  const one = run();
  expect([tables.search.candidates(["harbour"]), tables.search.candidates(["ab"])]).toEqual([[one], undefined]);
  add(4_999, "a");
  expect(tables.search.candidates(["harbour"])).toHaveLength(5_000);
  add(1, "b");
  // Some of them would be left out.
  expect(tables.search.candidates(["harbour"])).toBeUndefined();
});

test("a page of events ends where it has become long, and has one event at least", () => {
  const { tables, run, row } = store();
  const n = run({ id: "r" });
  const told = (characters: number) => ({ type: "told", text: "x".repeat(characters) });
  for (const characters of [20_000, 20_000, 50_000, 1]) tables.events.append(n, [told(characters)], at(0));
  const page = (seq: number) => tables.events.page(row(n) as RunRow, seq).map((event) => event.seq);
  expect([0, 2, 3, 4].map(page)).toEqual([[1, 2], [3], [4], []]);
});

test("no number is used again, whichever runs were deleted last; what costs no tokens counts as well", () => {
  const { tables, run } = store();
  const [first = 0, , last = 0] = [run(), run(), run()];
  for (const n of [last, first]) tables.deletion.remove(n);
  const n = run();
  expect(n).toBe(last + 1);
  const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0.5, source: "provider" };
  const replied = { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 1 };
  tables.events.append(n, [replied], at(0));
  expect(tables.usage.of("ann", 0)).toMatchObject({ tokens: 0, usd: 0.5 });
});

test("with little room nobody is woken early, nobody of another kind, and a worker that is gone gets nothing", () => {
  const { tables, run, row, worker } = store();
  worker("w");
  const asleep = (wakeAt: number, kind = "k") => {
    const n = run({ kind, principal: `of ${wakeAt} ${kind}` });
    tables.states.park(n, { signals: [], wakeAt }, at(0));
    return n;
  };
  const [late, due, others] = [asleep(10), asleep(9), asleep(9, "other")];
  for (const principal of ["ann", "bob"]) run({ principal });
  expect(tables.claims.claim(kinds("k"), "gone", 1, at(9))).toEqual([]);
  expect(tables.claims.claim(kinds("k"), "w", 1, at(9), "bob").map(({ n }) => n)).toEqual([due]);
  expect([late, others].map((n) => row(n)?.status)).toEqual(["waiting", "waiting"]);
});

test("a run that began before runs had bodies does not begin with the newest one now", () => {
  const { tables, db, run, row, worker } = store();
  worker("w");
  const [fresh, old] = [run(), run()];
  db.run("UPDATE runs SET epoch = 1 WHERE n = ?", [old]);
  const definition = { kind: "k", body: 2, execute: async () => null };
  const former = [{ body: 1, execute: async () => null }];
  tables.claims.claim(storedOffer(offerOf([{ ...definition, former }])), "w", 9, at(9));
  expect([row(fresh)?.body, row(old)?.body, row(old)?.status]).toEqual([2, null, "running"]);
});

test("only a run that paused for want of its body goes on by itself when that is there", () => {
  const { tables, run } = store();
  const paused = (["version_missing", "internal"] as const).map((code) => {
    const n = run();
    tables.states.pause(n, { code, message: "x" }, at(1));
    return n;
  });
  expect(tables.claims.continuable(kinds("k")).map(({ n }) => n)).toEqual(paused.slice(0, 1));
  expect(tables.claims.continuable(kinds("other"))).toEqual([]);
});

test("who watches a run is signaled once for the place it named last, is told of once, and not after its end", () => {
  const { tables, run } = store();
  const [watched, watcher, over] = [run(), run({ id: "w" }), run({ id: "over" })];
  const { watchers, signals, events, states } = tables;
  watchers.put(watched, watcher, "news", "r/1");
  // It has heard of the first place before.
  signals.insert(watcher, "news", "r/1", "null");
  watchers.put(watched, watcher, "news", "r/2");
  watchers.put(watched, over, "news", "r/2");
  states.end(over, { status: "completed", output: "null", error: null }, at(1));
  events.append(watched, [{ type: "told" }], at(2));
  expect([signals.has(watcher, "news", "r/2"), signals.has(over, "news", "r/2")]).toEqual([true, false]);
  expect([watchers.takeSignaled(), watchers.takeSignaled()]).toEqual([["w"], []]);
  watchers.put(watched, watcher, "news", "r/3");
  events.last(watched, { type: "run-ended", status: "completed" }, 2, at(3));
  expect([signals.has(watcher, "news", "r/3"), watchers.takeSignaled()]).toEqual([true, ["w"]]);
});

test("of the clocks the last reading is kept", () => {
  const { tables } = store();
  expect(tables.clock.read()).toBeNull();
  for (const wall of [1, 2]) tables.clock.put({ boot: `b${wall}`, uptime: wall, wall, steady: wall });
  expect(tables.clock.read()).toEqual({ boot: "b2", uptime: 2, wall: 2, steady: 2 });
});

test("a run whose body nobody has pauses, or ends if it was canceled, where there is room for more, and is told of", () => {
  const { tables, db, run, row, worker } = store();
  worker("w");
  const [lost, canceled, claimable] = [run({ id: "lost" }), run({ id: "canceled" }), run()];
  db.run("UPDATE runs SET epoch = 1, body = 7 WHERE n <> ?", [claimable]);
  db.run("UPDATE runs SET cancel_requested = 1 WHERE n = ?", [canceled]);
  const definition = { kind: "k", execute: async () => null };
  const asked = { owner: "w", limit: 2, definitions: new Map([["k", definition]]) };
  const { rows, told } = claim(tables, storedOffer(offerOf([definition])), asked, at(9));
  expect(rows.map(({ n }) => n)).toEqual([claimable]);
  expect([lost, canceled].map((n) => row(n)?.status)).toEqual(["paused", "canceled"]);
  expect(told.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([
    { id: "canceled", seq: 1 },
    { id: "lost", seq: 1 },
  ]);
  expect(JSON.parse(row(lost)?.error ?? "{}").code).toBe("version_missing");
});
