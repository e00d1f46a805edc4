import { expect, test } from "bun:test";
import { WriteBehindBuffer } from "./write-behind-buffer.ts";

test("a body may be 63 writes ahead of its store; with one more it waits for all of them, whatever becomes of them", async () => {
  const buffer = new WriteBehindBuffer();
  const writes = Array.from({ length: 64 }, () => Promise.withResolvers<void>());
  const added = writes.map(({ promise }) => buffer.add(promise));
  await Promise.all(added.slice(0, 63));
  const states: string[] = [];
  void added[63]?.then(() => states.push("added"));
  void buffer.written().then(() => states.push("written"));
  for (const { resolve } of writes.slice(0, 63)) resolve();
  await Bun.sleep(0);
  expect(states).toEqual([]);
  writes[63]?.reject(new Error("not ours any more"));
  await Bun.sleep(0);
  expect(states.toSorted()).toEqual(["added", "written"]);
  await buffer.written();
  await Promise.all(Array.from({ length: 63 }, () => buffer.add(new Promise(() => undefined))));
});
