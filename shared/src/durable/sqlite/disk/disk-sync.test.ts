import { expect, test } from "bun:test";
import { DiskSync } from "./disk-sync.ts";

/** Syncs that end when the test says so, and what has been told of them. */
function syncs() {
  const under: PromiseWithResolvers<void>[] = [];
  const told: string[] = [];
  const failures: unknown[] = [];
  const disk = new DiskSync(
    () => {
      const one = Promise.withResolvers<void>();
      under.push(one);
      return one.promise;
    },
    (error) => void failures.push(error),
  );
  const tell = (name: string, promise: Promise<void>) =>
    void promise.then(
      () => told.push(name),
      (error) => told.push(`${name}: ${error}`),
    );
  return {
    disk,
    told,
    failures,
    under,
    commit: (name: string) => tell(name, disk.committed()),
    read: (name: string) => tell(name, disk.reached()),
    async end(at: number, error?: Error) {
      if (error === undefined) under[at]?.resolve();
      else under[at]?.reject(error);
      await Bun.sleep(1);
    },
  };
}

test("commits during a sync share the next one, and each is told when its own has ended", async () => {
  const { commit, end, told, under, disk } = syncs();
  commit("a");
  commit("b");
  commit("c");
  expect([told, under.length]).toEqual([[], 1]);
  await end(0);
  expect([told, under.length, disk.isBusy]).toEqual([["a"], 2, true]);
  await end(1);
  expect([told, under.length, disk.isBusy]).toEqual([["a", "b", "c"], 2, false]);
});

test("what was read waits for the commits before it, and for none after it", async () => {
  const { commit, read, end, told } = syncs();
  read("nothing committed");
  await Bun.sleep(1);
  commit("a");
  read("a read");
  commit("b");
  read("b read");
  expect(told).toEqual(["nothing committed"]);
  await end(0);
  expect(told).toEqual(["nothing committed", "a", "a read"]);
  await end(1);
  expect(told.slice(3)).toEqual(["b", "b read"]);
});

test("after a failed sync nothing is told or synced until the database itself is on disk", async () => {
  const { commit, end, told, failures, under, disk } = syncs();
  commit("a");
  commit("b");
  await end(0, new Error("EIO"));
  commit("c");
  expect([told, failures.map(String), under.length, disk.hasFailed]).toEqual([[], ["Error: EIO"], 1, true]);
  // Who closes the store does not wait for it.
  expect(disk.isBusy).toBe(false);
  disk.done();
  await Bun.sleep(1);
  expect([told.toSorted(), disk.hasFailed, disk.isBusy]).toEqual([["a", "b", "c"], false, false]);
  commit("d");
  await end(1);
  expect(told.at(-1)).toBe("d");
});

test("who waits for a disk that fails until the end is told so", async () => {
  const { commit, read, end, told, disk } = syncs();
  commit("a");
  commit("b");
  read("b read");
  await end(0, new Error("EIO"));
  disk.close("closed");
  await Bun.sleep(1);
  expect(told.toSorted()).toEqual(["a: closed", "b read: closed", "b: closed"]);
});

test("who waits for a sync that is under way at the end is told that nobody knows", async () => {
  const { commit, told, disk } = syncs();
  commit("a");
  disk.close("closed");
  await Bun.sleep(1);
  expect(told).toEqual(["a: closed"]);
});
