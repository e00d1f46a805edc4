import { expect, test } from "bun:test";
import type { RunRecord, StoredEvent } from "../core/runs/engine.ts";
import { createProjectionCache } from "./projection-cache.ts";

function log(length: number) {
  const reads: [number, number][] = [];
  const events = async (runId: string, after = 0, last = length): Promise<readonly StoredEvent[]> => {
    reads.push([after, last]);
    return Array.from({ length }, (_, i) => ({
      runId,
      seq: i + 1,
      at: i,
      event: { type: "message-received", messageId: `m${i + 1}`, parts: [] },
    })).slice(after, last);
  };
  return { reads, engine: { events } };
}

const run = (id: string, lastEvent: number) => ({ id, lastEvent }) as RunRecord;

test("reading a task again reads only its newer events", async () => {
  const { engine, reads } = log(10);
  const cache = createProjectionCache(engine);
  expect((await cache.current(run("r", 4))).history).toHaveLength(4);
  expect((await cache.current(run("r", 4))).seq).toBe(4);
  expect((await cache.current(run("r", 10))).history.map(({ messageId }) => messageId)).toEqual(
    Array.from({ length: 10 }, (_, i) => `m${i + 1}`),
  );
  expect(reads).toEqual([
    [0, 4],
    [4, 10],
  ]);
});

test("an earlier projection is computed afresh, without reading later events, and leaves the newest one cached", async () => {
  const { engine, reads } = log(10);
  const cache = createProjectionCache(engine);
  await cache.current(run("r", 10));
  expect((await cache.upTo("r", 3)).seq).toBe(3);
  expect((await cache.upTo("r", 0)).history).toEqual([]);
  expect((await cache.current(run("r", 10))).seq).toBe(10);
  expect(reads).toEqual([
    [0, 10],
    [0, 3],
  ]);
});

test("what was made elsewhere is kept unless something newer is known, and the record of a run that is over with it", async () => {
  const { engine, reads } = log(10);
  const cache = createProjectionCache(engine);
  const [older, newer] = [await cache.upTo("r", 3), await cache.upTo("r", 7)];
  expect([cache.known("r").seq, cache.ended("r")]).toEqual([0, undefined]);
  const record = run("r", 7);
  cache.keep("r", newer, record);
  cache.keep("r", older, run("r", 3));
  expect([cache.known("r").seq, cache.ended("r")]).toEqual([7, record]);
  expect(cache.ended("another")).toBeUndefined();
  reads.length = 0;
  await cache.current(run("r", 7));
  expect(reads).toEqual([]);
  expect((await cache.current(run("r", 10))).seq).toBe(10);
  expect(cache.ended("r")).toBeUndefined();
});

test("only the most recently read tasks are kept", async () => {
  const { engine, reads } = log(1);
  const cache = createProjectionCache(engine, 2);
  for (const id of ["a", "b", "a", "c", "a"]) await cache.current(run(id, 1));
  expect(reads).toHaveLength(3);
  await cache.current(run("b", 1));
  expect(reads).toHaveLength(4);
});

test("if nothing else is said, 256 tasks are kept", async () => {
  const { engine, reads } = log(1);
  const cache = createProjectionCache(engine);
  for (let n = 0; n < 257; n++) await cache.current(run(`${n}`, 1));
  await cache.current(run("1", 1));
  expect(reads).toHaveLength(257);
  await cache.current(run("0", 1));
  expect(reads).toHaveLength(258);
});
