import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { scratch } from "../../../testing/durable/scratch.ts";
import { until } from "../../../testing/durable/until.ts";
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
    /** How many pages it has. */
    length: () => db.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)").get()?.log,
    inFile() {
      copyFileSync(path, `${path}.copy`);
      using copy = new Database(`${path}.copy`);
      return copy.query<{ rows: number }, []>("SELECT count(*) AS rows FROM t").get()?.rows;
    },
    [Symbol.dispose]: () => db.close(),
  };
}

const silent = { pages: () => 0, onResumed: () => undefined, onFailed: () => expect.unreachable() };

/** On a disk so slow, each checkpoint keeps the event loop waiting. */
const slow = () => Bun.sleepSync(60);

test("on a slow disk, while much is written, a thread brings the log into the file, then commits wait until it has what they added, and the log begins anew", async () => {
  using store = scratch();
  using log = logged(store.path);
  let [here, resumed] = [0, 0];
  /** Whether commits had to wait whenever the thread was asked. */
  const asked: boolean[] = [];
  const ask = Worker.prototype.postMessage;
  using _ = spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, path: string) {
    asked.push(checkpoints.isPausing);
    ask.call(this, path);
  });
  const checkpoints = new LogCheckpoints({
    ...{ path: store.path, ...silent, onResumed: () => void resumed++ },
    checkpoint: () => {
      here++;
      slow();
    },
  });
  checkpoints.committed(1_000);
  log.insert();
  checkpoints.committed(1);
  expect([log.inFile(), here, checkpoints.isInThread]).toEqual([0, 1, false]);
  checkpoints.committed(1_000);
  expect([checkpoints.isInThread, checkpoints.isPausing]).toEqual([true, false]);
  log.insert();
  // Meanwhile nothing else is begun.
  checkpoints.committed(1_000);
  await until(() => !checkpoints.isInThread);
  expect([asked, checkpoints.isPausing, resumed, here, log.inFile()]).toEqual([[false, true], false, 1, 1, 2]);
  log.insert();
  expect(log.length()).toBe(1);
  checkpoints.committed(1);
  expect(checkpoints.isInThread).toBe(true);
  await checkpoints.close();
  expect(log.inFile()).toBe(3);
  checkpoints.committed(1_000);
  expect([checkpoints.isInThread, here]).toEqual([false, 1]);
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

test("a thread that fails says so, with the code, and commits go on", async () => {
  using store = scratch();
  const told: unknown[] = [];
  const checkpoints = new LogCheckpoints({
    path: `${store.path}/nowhere`,
    checkpoint: slow,
    pages: () => 0,
    onFailed: (error) => void told.push(error),
    onResumed: () => void told.push(checkpoints.isPausing),
  });
  checkpoints.committed(1_000);
  checkpoints.committed(1_000);
  await checkpoints.close();
  expect(told).toMatchObject([{ code: "SQLITE_CANTOPEN" }, false]);
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
