import { expect, spyOn, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../../../testing/durable/scratch.ts";
import { createFileSync } from "./file-sync.ts";

test("what can be synced is, however often, and what cannot rejects", async () => {
  using store = scratch();
  const file = openSync(join(store.folder, "log"), "w");
  const sync = createFileSync();
  for (let n = 0; n < 50; n++) {
    writeSync(file, "x".repeat(4096));
    await sync(file);
  }
  closeSync(file);
  expect(await sync(file).then(String, (error) => error.code)).toBe("EBADF");
});

/** Whether a sync is over before anything else happens: then it kept the event loop waiting. */
async function isHere(synced: Promise<void>): Promise<boolean> {
  let isOver = false;
  const done = synced.then(() => {
    isOver = true;
  });
  for (let turns = 0; turns < 9; turns++) await undefined;
  const wasOver = isOver;
  await done;
  return wasOver;
}

test("while another thread syncs the disk the event loop goes on beside a sync, and no longer", async () => {
  using store = scratch();
  const file = openSync(join(store.folder, "log"), "w");
  let isInUse = true;
  const sync = createFileSync(() => isInUse);
  using _ = spyOn(performance, "now").mockImplementation(() => 0);
  const here = [await isHere(sync(file)), await isHere(sync(file))];
  isInUse = false;
  here.push(await isHere(sync(file)));
  expect(here).toEqual([false, false, true]);
  closeSync(file);
});

test("after a sync that took long the event loop goes on beside those that follow, for a while, and each of them counts", async () => {
  using store = scratch();
  const file = openSync(join(store.folder, "log"), "w");
  const sync = createFileSync();
  let now = 0;
  let tookMs = 50;
  using _ = spyOn(performance, "now").mockImplementation(() => (now += tookMs));
  expect(await isHere(sync(file))).toBe(true);
  tookMs = 0;
  const next: boolean[] = [];
  for (let n = 0; n < 80; n++) next.push(await isHere(sync(file)));
  expect([next[0], next[50], next.at(-1)]).toEqual([false, false, true]);
  tookMs = 50;
  await sync(file);
  closeSync(file);
  expect(await sync(file).then(String, (error) => error.code)).toBe("EBADF");
});
