import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { scratch } from "../../../testing/durable/scratch.ts";
import { LogCheckpoints } from "./checkpoints.ts";

/** A store whose log nobody else brings into its file; `inFile` counts the rows that are there. */
function logged(path: string) {
  const db = new Database(path);
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run("CREATE TABLE t (n INTEGER PRIMARY KEY)");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return {
    insert: () => void db.run("INSERT INTO t DEFAULT VALUES"),
    inFile() {
      copyFileSync(path, `${path}.copy`);
      using copy = new Database(`${path}.copy`);
      return copy.query<{ rows: number }, []>("SELECT count(*) AS rows FROM t").get()?.rows;
    },
    [Symbol.dispose]: () => db.close(),
  };
}

const silent = { pages: () => 0, onFailed: () => expect.unreachable() };

/** On a disk so slow, each checkpoint keeps the event loop waiting. */
const slow = () => Bun.sleepSync(60);

test("on a slow disk, while much is written, a thread brings the log into the file, and the event loop what is left", async () => {
  using store = scratch();
  using log = logged(store.path);
  let left = -1;
  const checkpoints = new LogCheckpoints({
    ...{ path: store.path, ...silent },
    checkpoint: () => {
      left++;
      slow();
    },
  });
  checkpoints.committed(1_000);
  log.insert();
  checkpoints.committed(1);
  expect([log.inFile(), left]).toEqual([0, 0]);
  checkpoints.committed(1_000);
  // Meanwhile nothing else is begun.
  checkpoints.committed(1_000);
  expect(left).toBe(0);
  for (const end = performance.now() + 10_000; left === 0 && performance.now() < end; ) await Bun.sleep(5);
  expect([log.inFile(), left]).toEqual([1, 1]);
  log.insert();
  checkpoints.committed(1);
  await checkpoints.close();
  expect([log.inFile(), left]).toEqual([2, 1]);
  checkpoints.committed(1_000);
  expect(left).toBe(1);
});

test("on a disk that answers at once no thread is needed, however much is written", async () => {
  using store = scratch();
  let done = 0;
  const checkpoints = new LogCheckpoints({ path: store.path, ...silent, checkpoint: () => void done++ });
  for (let n = 1; n <= 5; n++) {
    checkpoints.committed(1_000);
    expect(done).toBe(n);
  }
  await checkpoints.close();
});

test("while little is written the event loop does it, and needs no thread", async () => {
  using store = scratch();
  let done = 0;
  const checkpoint = () => {
    done++;
    slow();
  };
  const checkpoints = new LogCheckpoints({ path: store.path, ...silent, checkpoint, busyMs: 0 });
  for (let n = 0; n < 200; n++) checkpoints.committed(1);
  expect(done).toBe(2);
  await checkpoints.close();
});

test("a thread that fails says so, with the code", async () => {
  using store = scratch();
  const failed: unknown[] = [];
  const checkpoints = new LogCheckpoints({
    path: `${store.path}/nowhere`,
    checkpoint: slow,
    pages: () => 0,
    onFailed: (error) => void failed.push(error),
  });
  checkpoints.committed(1_000);
  checkpoints.committed(1_000);
  await checkpoints.close();
  expect(failed).toMatchObject([{ code: "SQLITE_CANTOPEN" }]);
});

test("a log that few large commits have made long is brought in soon", () => {
  using store = scratch();
  let [done, pages] = [0, 4_000];
  const checkpoints = new LogCheckpoints({
    ...{ path: store.path, ...silent, pages: () => pages },
    checkpoint: () => void done++,
  });
  const commits = () => {
    for (let n = 0; n < 32; n++) checkpoints.committed(1);
  };
  commits();
  expect(done).toBe(0);
  pages = 4_001;
  commits();
  expect(done).toBe(1);
});
