import { afterEach, expect, mock, test } from "bun:test";
import { silentLog } from "../../core/runs/engine.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { handClock } from "../../testing/machine/hand-clock.ts";
import { HeldConversations } from "./conversations.ts";
import { Database } from "./database.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";

type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

const row = { kind: "hands", principal: "ann", context_id: "c" };
const conversation = { kind: "hands", principal: "ann", contextId: "c", folder: "f" };

withPostgres((server) => {
  /** Two workers, as the database knows them. */
  async function two() {
    const url = await server().createDatabase();
    await migratePostgres({ url });
    const database = new Database({ url, schema: "manyhands", connections: 4, log: silentLog });
    const open = async (worker: string) => {
      await database.query("INSERT INTO workers VALUES ($1, 1, now_ms() + 3600000)", [worker]);
      return new HeldConversations({ database, log: silentLog, worker: () => worker, onFree: () => undefined });
    };
    const [one, other] = [await open("one"), await open("other")];
    return {
      ...{ url, database, one, other },
      /** What claiming by this worker's name says of the run. */
      async take(run: string, owner: string) {
        const claim = { run, owner, bodies: ["hands "], newest: { hands: 1 }, kinds: ["hands"], missing: {} };
        return database.call<{ run?: object; isElsewhere?: true }>("take_run", claim);
      },
      /** The runs that this worker claims. */
      async claim(owner: string, query: Query = database.query.bind(database)): Promise<string[]> {
        const claim = {
          owner,
          kinds: ["hands"],
          bodies: ["hands ", "hands 1"],
          newest: { hands: 1 },
          limit: 1,
          missing: {},
        };
        const [row] = await query<{ claimed: string }>("SELECT claim_runs($1::text) AS claimed", [
          JSON.stringify(claim),
        ]);
        return (JSON.parse(row?.claimed ?? "[]") as { id: string }[]).map(({ id }) => id);
      },
      [Symbol.asyncDispose]: () => database.close(),
    };
  }

  test("one worker holds a conversation, and the next when the last of its runs has left", async () => {
    await using pair = await two();
    const stored: number[] = [];
    pair.one.onIdle(async (_, epoch) => stored.push(epoch) > 0);
    for (const _ of [1, 2]) pair.one.enter(row);
    const held = await pair.one.hold(conversation);
    expect(held).toMatchObject({ before: 0, checkpoint: null, isTakeover: false });
    expect(await pair.one.hold(conversation)).toEqual(held);
    pair.other.enter(row);
    let isOthers = false;
    const next = pair.other.hold(conversation).finally(() => {
      isOthers = true;
    });
    await pair.one.leave(row);
    expect(await pair.one.keep(conversation, held.epoch, "checkpoint")).toBe(true);
    expect([isOthers, stored]).toEqual([false, []]);
    await pair.one.leave(row);
    expect(stored).toEqual([held.epoch]);
    const { epoch, ...after } = await next;
    expect(after).toEqual({ before: held.epoch, checkpoint: "checkpoint", isTakeover: false });
    expect(epoch).toBeGreaterThan(held.epoch);
  }, 60_000);

  test("after a takeover, what the former holder stores does not count", async () => {
    await using pair = await two();
    pair.one.enter(row);
    const first = await pair.one.hold(conversation);
    await pair.database.query("DELETE FROM workers WHERE id = 'one'");
    pair.other.enter(row);
    const second = await pair.other.hold(conversation);
    expect(second).toMatchObject({ before: first.epoch, isTakeover: true });
    expect(await pair.one.keep(conversation, first.epoch, "late")).toBe(false);
    await pair.one.leave(row);
    await pair.database.query("UPDATE conversations SET used_at = 0");
    expect(await pair.other.keep(conversation, second.epoch, "mine")).toBe(true);
    // What is kept is in use.
    const [stored] = await pair.database.query("SELECT holder, checkpoint, used_at > 0 AS used FROM conversations");
    expect(stored).toEqual({ holder: "other", checkpoint: "mine", used: true });
  }, 60_000);

  test("a worker that waits for a conversation stops when its run is executed elsewhere", async () => {
    await using pair = await two();
    pair.one.enter(row);
    await pair.one.hold(conversation);
    pair.other.enter(row);
    const waiting = pair.other.hold(conversation);
    void pair.other.leave(row);
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  }, 60_000);

  test("a scheduler that names a run of a conversation held elsewhere is told so, until the holder is gone", async () => {
    await using pair = await two();
    const engine = createPostgresEngine({ url: pair.url, connections: 2 });
    const { run } = await engine.start({ kind: "hands", input: null, principal: "ann", contextId: "c" });
    await engine.close();
    // Nobody would take over what a worker gets that was declared dead.
    await expect(pair.take(run.id, "gone")).rejects.toThrow("This worker is not known.");
    expect(await pair.claim("gone")).toEqual([]);
    pair.one.enter(row);
    await pair.one.hold(conversation);
    expect(await pair.take(run.id, "other")).toEqual({ isElsewhere: true });
    await pair.database.query("DELETE FROM workers WHERE id = 'one'");
    expect((await pair.take(run.id, "other")).run).toBeDefined();
  }, 60_000);

  test("of two workers that claim the first runs of a conversation at once, one gets them all", async () => {
    await using pair = await two();
    pair.one.enter({ ...row, context_id: "another" });
    await pair.one.hold({ ...conversation, contextId: "another", folder: "another" });
    const engine = createPostgresEngine({ url: pair.url, connections: 2 });
    const start = async () =>
      (await engine.start({ kind: "hands", input: null, principal: "ann", contextId: "c" })).run.id;
    const ids = [await start(), await start()];
    await engine.close();
    const claimed = await pair.database.transaction(async (run) => {
      const first = await pair.claim("one", run);
      expect(await pair.claim("other")).toEqual([]);
      return first;
    });
    expect(claimed).toEqual(ids.slice(0, 1));
    expect(await pair.claim("other")).toEqual([]);
    expect(await pair.take(ids[1] ?? "", "other")).toEqual({ isElsewhere: true });
    expect(await pair.claim("one")).toEqual(ids.slice(1));
    await pair.database.query("SELECT hand_back('one', '[]')");
    expect(await pair.claim("other")).toEqual(ids.slice(0, 1));
  }, 60_000);

  test("a conversation is unused and forgotten while no living worker holds it, and its folder is known as gone", async () => {
    await using pair = await two();
    const later = Date.now() + 3_600_000;
    pair.one.enter(row);
    await pair.one.hold(conversation);
    expect([await pair.other.unused(later, 9), await pair.other.forget("f", later)]).toEqual([[], false]);
    await pair.database.query("DELETE FROM workers WHERE id = 'one'");
    expect([await pair.other.unused(0, 9), await pair.other.forget("f", 0)]).toEqual([[], false]);
    expect([await pair.other.unused(later, 9), await pair.other.gone()]).toEqual([["f"], []]);
    expect([await pair.other.forget("f", later), await pair.other.gone()]).toEqual([true, ["f"]]);
    expect(await pair.other.unknown(["f"])).toEqual(new Set(["f"]));
    for (const [n, folder] of ["g", "h", "i"].entries())
      await pair.database.query(
        "INSERT INTO conversations (kind, principal, context_id, folder, used_at) VALUES ('hands', 'ann', $1, $1, $2)",
        [folder, 9 - n],
      );
    expect(await pair.other.unknown(["f", "g", "z"])).toEqual(new Set(["f", "z"]));
    expect(await pair.other.unused(9, 1)).toEqual(["i"]);
    expect(await pair.other.unused(9, 9)).toEqual(["i", "h"]);
    await pair.database.query("INSERT INTO gone_folders VALUES ('z')");
    await pair.other.cleared("f");
    expect(await pair.other.gone()).toEqual(["z"]);
  }, 60_000);

  test("the last run of a conversation leaves its folder to be cleared away, and no other one does", async () => {
    await using pair = await two();
    const engine = createPostgresEngine({ url: pair.url, connections: 2 });
    const about = { kind: "hands", input: null, principal: "ann", contextId: "c", canceled: true };
    const start = async (over = {}) => (await engine.start({ ...about, ...over })).run.id;
    const [first, last, bobs] = [await start(), await start(), await start({ principal: "bob" })];
    pair.one.enter(row);
    await pair.one.hold(conversation);
    pair.one.enter({ ...row, principal: "bob" });
    await pair.one.hold({ ...conversation, principal: "bob", folder: "bobs" });
    for (const [kind, contextId] of [
      ["feet", "c"],
      ["hands", "d"],
    ] as const)
      await pair.database.query(
        "INSERT INTO conversations (kind, principal, context_id, folder, used_at) VALUES ($1, 'ann', $2, $3, 0)",
        [kind, contextId, kind + contextId],
      );
    const folders = ["f", "bobs", "feetc", "handsd"];
    const left = async () => [await pair.one.gone(), [...(await pair.one.unknown(folders))]];
    await engine.delete({ runIds: [first] });
    expect(await left()).toEqual([[], []]);
    await engine.delete({ runIds: [last] });
    expect(await left()).toEqual([["f"], ["f"]]);
    // Nothing of it is stored any more, though its worker still holds it.
    expect(await pair.one.keep(conversation, 1, "late")).toBe(false);
    await engine.delete({ runIds: [bobs] });
    expect((await left()).map((folders) => folders.toSorted())).toEqual([
      ["bobs", "f"],
      ["bobs", "f"],
    ]);
    await engine.close();
  }, 60_000);

  test("a worker that was taken for dead and has another name asks for its conversations anew", async () => {
    await using pair = await two();
    let name = "one";
    const same = new HeldConversations({
      ...{ database: pair.database, log: silentLog, worker: () => name, onFree: () => undefined },
    });
    pair.one.enter(row);
    const first = await pair.one.hold(conversation);
    same.enter(row);
    expect(await same.hold(conversation)).toMatchObject({ epoch: first.epoch, isTakeover: false });
    await pair.database.query("UPDATE workers SET id = 'renamed' WHERE id = 'one'");
    name = "renamed";
    expect(await same.hold(conversation)).toMatchObject({ before: first.epoch, isTakeover: true });
  }, 60_000);
});

afterEach(() => mock.restore());

/** Conversations over a database that answers as it is told, and how often they were freed. */
function conversationsForTest(worker: () => string | undefined = () => "one") {
  const warned: object[] = [];
  const released: unknown[] = [];
  const at = { asked: 0, freed: 0 };
  const database = {
    async query(text: string, values: readonly unknown[]) {
      if (text.includes("holder = NULL")) released.push(values);
      if (!text.includes("hold_conversation")) return [];
      return [{ answer: JSON.stringify({ epoch: ++at.asked, before: 0, checkpoint: null, isTakeover: false }) }];
    },
  } as unknown as Database;
  const held = new HeldConversations({
    ...{ database, worker },
    log: { warn: (fields) => void warned.push(fields), error: () => undefined },
    onFree: () => void at.freed++,
  });
  return { held, warned, released, at };
}

test("a conversation whose files cannot be stored stays here, and that is tried again ever more seldom", async () => {
  const { held, warned, released, at } = conversationsForTest();
  const stored: unknown[] = [];
  held.onIdle(async ({ folder }, epoch) => {
    stored.push([folder, epoch]);
    if (stored.length === 1) throw new Error("The object store is away.");
    return stored.length > 9;
  });
  held.enter(row);
  await held.hold(conversation);
  const { waits, state, next, rest } = handClock();
  await held.leave(row);
  for (let turn = 1; turn < 9; turn++) {
    await next();
    await rest();
  }
  expect([warned, released, at.freed]).toEqual([[expect.objectContaining({ folder: "f" })], [], 0]);
  expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  // A run that comes meanwhile has what is held, and with it nothing is given up.
  held.enter(row);
  expect(await held.hold(conversation)).toMatchObject({ epoch: 1 });
  state.fire();
  await rest();
  expect(stored).toHaveLength(9);
  await held.leave(row);
  expect(stored).toEqual(Array.from({ length: 10 }, () => ["f", 1]));
  expect([released, at]).toEqual([[["f", "one", 1]], { asked: 1, freed: 1 }]);
});

test("a conversation that gets a run while its files are stored is kept, and once closed nothing is tried again", async () => {
  const { held, released, at } = conversationsForTest();
  const gates: ((isStored: boolean) => void)[] = [];
  held.onIdle(() => new Promise((resolve) => gates.push(resolve)));
  held.enter(row);
  await held.hold(conversation);
  const left = held.leave(row);
  while (gates.length === 0) await Bun.sleep(1);
  held.enter(row);
  gates[0]?.(true);
  await left;
  expect([released, at]).toEqual([[], { asked: 1, freed: 0 }]);
  expect(await held.hold(conversation)).toMatchObject({ epoch: 1 });
  const { waits } = handClock();
  const leaving = held.leave(row);
  while (gates.length === 1) await Bun.sleep(1);
  held.close();
  gates[1]?.(false);
  await leaving;
  expect([waits, released]).toEqual([[], []]);
});

test("a process that is not known yet asks for no conversation, and one that nobody asked for frees nothing", async () => {
  let name: string | undefined;
  const { held, released, at } = conversationsForTest(() => name);
  await expect(held.hold(conversation)).rejects.toMatchObject({ code: "unavailable" });
  held.enter(row);
  const holding = held.hold(conversation);
  await Bun.sleep(10);
  expect(at.asked).toBe(0);
  name = "one";
  expect(await holding).toMatchObject({ epoch: 1 });
  const other = { ...row, context_id: "other" };
  held.enter(other);
  await held.leave(other);
  await held.leave({ ...row, context_id: "unknown" });
  expect([released, at.freed]).toEqual([[], 0]);
  // It is given up under the name by which it was held, and asked for anew by the next run.
  name = "renamed";
  await held.leave(row);
  expect([released, at.freed]).toEqual([[["f", "one", 1]], 1]);
  held.enter(row);
  expect(await held.hold(conversation)).toMatchObject({ epoch: 2 });
});
