import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { silentLog } from "../../core/runs/engine.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import type { Tables } from "./tables/tables.ts";
import { Writer } from "./writer.ts";

const identity = { host: "h", pid: 1, processStart: "" };
const insert = (id: string) => (tables: Tables) => tables.workers.insert(id, identity);
const idsIn = (writer: Writer) => writer.read((tables) => tables.workers.all().map((worker) => worker.id));

function writerOf(path: string, onRecovered = () => undefined): Writer {
  return new Writer({ path, log: silentLog, onRecovered });
}

/** An entry that fails like a full disk the first times it is run, and then succeeds. */
function failing(times: number, then: (tables: Tables) => void): (tables: Tables) => void {
  let left = times;
  return (tables) => {
    then(tables);
    if (left-- > 0) throw Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
  };
}

test("only an entry that throws is undone and rejects; the rest of its batch is committed", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  const [before, refused, twice, after] = await Promise.allSettled([
    writer.write(insert("before")),
    writer.write((tables) => {
      insert("refused")(tables);
      throw new AppError("conflict", "no");
    }),
    writer.write((tables) => {
      insert("half")(tables);
      insert("before")(tables);
    }),
    writer.write(insert("after")),
  ]);
  expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
  expect(twice).toMatchObject({ status: "rejected", reason: { code: expect.stringContaining("SQLITE_CONSTRAINT") } });
  expect(await idsIn(writer)).toEqual(["before", "after"]);
  await writer.close(100);
});

test("when the storage fails under one entry, the whole batch is tried again until it is committed", async () => {
  using store = scratch();
  let recovered = 0;
  const writer = writerOf(store.path, () => void recovered++);
  const written = Promise.all([
    writer.write(insert("a")),
    writer.write(failing(3, insert("b"))),
    writer.write(insert("c")),
  ]);
  const offered = writer.offer(insert("offered"));
  expect(await offered.catch((error) => error.code)).toBe("storage_unavailable");
  expect(writer.health()).toMatchObject({ ok: false, reason: expect.stringContaining("disk is full") });
  expect(await writer.offer(insert("later")).catch((error) => error.code)).toBe("storage_unavailable");
  await written;
  expect(writer.health()).toEqual({ ok: true });
  expect(recovered).toBe(1);
  expect(await idsIn(writer)).toEqual(["a", "b", "c"]);
  await writer.close(100);
});

test("close commits the queue, and gives up in time if the storage does not work", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  const queued = writer.write(insert("queued"));
  await writer.close(1000);
  await queued;
  const again = writerOf(store.path);
  expect(await idsIn(again)).toEqual(["queued"]);
  const hopeless = again.write(failing(Number.POSITIVE_INFINITY, insert("hopeless")));
  const begun = performance.now();
  await again.close(50);
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(await hopeless.catch((error) => error.code)).toBe("storage_unavailable");
  expect(await again.write(insert("x")).catch((error) => error.code)).toBe("unavailable");
});

test("writes that take long together share no transaction, so that everything else has its turn between them", async () => {
  using store = scratch();
  let transactions = 0;
  const onCommitted = () => void transactions++;
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined, onCommitted });
  const slow = (id: string) => (tables: Tables) => {
    insert(id)(tables);
    Bun.sleepSync(3);
  };
  const ids = Array.from({ length: 12 }, (_, n) => `w${n}`);
  const left = new Set(ids);
  const written = ids.map((id) => writer.write(slow(id)).then(() => left.delete(id)));
  let leftAtTurn = 0;
  const turn = setInterval(() => {
    leftAtTurn ||= left.size;
  });
  await Promise.all(written);
  clearInterval(turn);
  expect(await idsIn(writer)).toEqual(ids);
  expect(transactions).toBeGreaterThan(2);
  expect(transactions).toBeLessThan(12);
  expect(leftAtTurn).toBeGreaterThan(0);
  await writer.close(100);
});
