import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { scratch } from "../../../testing/durable/scratch.ts";
import { openConnection } from "../disk/connection.ts";
import { migrate } from "./schema.ts";
import { prepareTables, type Tables } from "./tables.ts";

const now = { wall: 1, steady: 1 };

/** Stores a run that the worker `w` holds; returns its lease. */
function storeHeld({ workers, runs }: Tables, id = "held") {
  if (workers.all().length === 0) workers.insert("w", { host: "h", pid: 1, processStart: "" });
  const about = { id, kind: "k", principal: "ann", contextId: "c", input: "null", dedupeKey: null, dedupeHash: null };
  const seat = { owner: "w", body: 1, lastEvent: 0, counted: 0, wall: 0, steady: 0 } as const;
  return { n: runs.insert({ ...about, ...seat })?.n ?? Number.NaN, owner: "w", epoch: 1 };
}

/** A store on disk with a run that is held and known to be, and a connection of somebody else. */
function store() {
  const place = scratch();
  const connection = openConnection(place.path);
  const other = new Database(place.path);
  const { tables } = connection;
  const within = <T>(work: () => T): T => {
    connection.begin();
    const result = work();
    connection.commit();
    return result;
  };
  const lease = within(() => storeHeld(tables));
  const look = () => tables.states.held(lease)?.cancel_requested ?? "lost";
  expect(within(look)).toBe(0);
  return {
    ...{ connection, tables, other, within, lease, look },
    [Symbol.dispose]() {
      other.close();
      connection.close();
      place[Symbol.dispose]();
    },
  };
}

test("while nobody else commits, the store is asked once whether a run is held, and once whether it is watched", () => {
  const db = new Database(":memory:", { strict: true });
  migrate(db, ":memory:");
  const tables = prepareTables(db);
  const lease = storeHeld(tables);
  tables.knownRuns.begun(1);
  const look = () => [tables.states.held(lease), tables.events.append(lease.n, [{ type: "said" }], now)];
  expect(look()).toMatchObject([{ cancel_requested: 0 }, 1]);
  // Nothing but the store itself hears of this.
  db.run("UPDATE runs SET owner = 'other'");
  db.run("INSERT INTO watchers (run, watcher, signal, id) VALUES (1, 1, 'news', '1')");
  tables.knownRuns.ended();
  tables.knownRuns.begun(1);
  expect(look()).toMatchObject([{ cancel_requested: 0 }, 2]);
  expect(db.query("SELECT count(*) AS n FROM watchers").get()).toEqual({ n: 1 });
  tables.knownRuns.ended();
  expect(tables.states.held(lease)).toBeNull();
  tables.knownRuns.begun(2);
  expect(tables.states.held(lease)).toBeNull();
});

test.each([
  ["cancels the run", "UPDATE runs SET cancel_requested = 1", 1],
  ["takes the run over", "UPDATE runs SET owner = 'other', epoch = epoch + 1", "lost"],
  ["gives the run to this worker in another claim", "UPDATE runs SET epoch = epoch + 1", "lost"],
  ["hands the run back", "UPDATE runs SET owner = NULL, status = 'queued'", "lost"],
  ["deletes the run", "DELETE FROM runs", "lost"],
] as const)("when another connection %s, the next read and the next transaction see it", (_, sql, seen) => {
  using at = store();
  at.other.run(sql);
  expect(at.look()).toBe(seen);
  at.connection.readTogether(() => expect(at.look()).toBe(seen));
  expect(at.within(at.look)).toBe(seen);
});

test.each([
  ["cancels", ({ states }: Tables, n: number) => states.requestCancel(n, now), 1],
  ["parks", ({ states }: Tables, n: number) => states.park(n, { signals: ["go"] }, now), "lost"],
  ["queues", ({ states }: Tables, n: number) => states.queue(n, now), "lost"],
  ["pauses", ({ states }: Tables, n: number) => states.pause(n, { code: "internal", message: "" }, now), "lost"],
  [
    "ends",
    ({ states }: Tables, n: number) => states.end(n, { status: "completed", output: "1", error: null }, now),
    "lost",
  ],
  ["hands back what a dead worker held, and with it", ({ claims }: Tables) => claims.handBack("w", now), "lost"],
  ["deletes", ({ deletion }: Tables, n: number) => deletion.remove(n), "lost"],
] as const)(
  "when a transaction of its own %s the run, it sees that itself, and so does the next one",
  (_, change, seen) => {
    using at = store();
    at.within(() => {
      expect(at.look()).toBe(0);
      change(at.tables, at.lease.n);
      expect(at.look()).toBe(seen);
    });
    expect(at.within(at.look)).toBe(seen);
  },
);

test("what a transaction has seen of its own changes is forgotten with them, whether all or a part of it is undone", () => {
  using at = store();
  const cancel = () => {
    at.tables.states.requestCancel(at.lease.n, now);
    expect(at.look()).toBe(1);
  };
  at.connection.begin();
  cancel();
  at.connection.rollback();
  expect(at.within(at.look)).toBe(0);
  at.within(() => {
    const undone = () =>
      at.connection.part(() => {
        cancel();
        throw new Error("undone");
      });
    expect(undone).toThrow("undone");
    expect(at.look()).toBe(0);
  });
});

test.each(["this connection", "another one"])("a run that begins to be watched by %s signals its next event", (by) => {
  using at = store();
  const { n } = at.lease;
  const watcher = at.within(() => storeHeld(at.tables, "watcher")).n;
  const append = () => at.within(() => at.look() === 0 && at.tables.events.append(n, [{ type: "said" }], now));
  append();
  append();
  if (by === "this connection") at.within(() => at.tables.watchers.put(n, watcher, "news", "1"));
  else at.other.run(`INSERT INTO watchers (run, watcher, signal, id) VALUES (${n}, ${watcher}, 'news', '1')`);
  append();
  expect(at.tables.signals.isFree(watcher, "news")).toBe(true);
});
