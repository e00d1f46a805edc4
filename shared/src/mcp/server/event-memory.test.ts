import { expect, test } from "bun:test";
import { createEventMemory } from "./event-memory.ts";

const message = (text: string) => ({ jsonrpc: "2.0" as const, method: text });

async function after(id: string, store: ReturnType<ReturnType<typeof createEventMemory>["open"]>): Promise<unknown[]> {
  const sent: unknown[] = [];
  await store.replayEventsAfter(id, { send: async (_, one) => void sent.push("method" in one && one.method) });
  return sent;
}

test("events after a given one in its stream are repeated, and none of another stream or session", async () => {
  const memory = createEventMemory();
  const [one, other] = [memory.open(), memory.open()];
  const first = await one.storeEvent("s", message("a"));
  await one.storeEvent("t", message("elsewhere"));
  await other.storeEvent("s", message("another's"));
  await one.storeEvent("s", message("b"));
  expect(await after(first, one)).toEqual(["b"]);
  expect(await other.getStreamIdForEventId?.("2")).toBeUndefined();
  expect(await after(first, other)).toEqual([]);
});

test("beyond the limit the oldest event is dropped, never the newest, and all of an ended session", async () => {
  const memory = createEventMemory(200);
  const [one, other] = [memory.open(), memory.open()];
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push(await one.storeEvent("s", message("x".repeat(60))));
  expect(await Promise.all(ids.map((id) => one.getStreamIdForEventId?.(id)))).toEqual([
    undefined,
    undefined,
    undefined,
    "s",
    "s",
  ]);
  const huge = await other.storeEvent("s", message("x".repeat(1_000)));
  expect(await other.getStreamIdForEventId?.(huge)).toBe("s");
  expect(await one.getStreamIdForEventId?.(ids.at(-1) ?? "")).toBeUndefined();
  other[Symbol.dispose]();
  expect(await other.getStreamIdForEventId?.(huge)).toBeUndefined();
});

test("the ids of a session's events are counted in it alone, and do not show how much others are told", async () => {
  const memory = createEventMemory();
  const [one, other] = [memory.open(), memory.open()];
  for (let n = 1; n <= 3; n++) expect(await one.storeEvent("s", message(`${n}`))).toBe(String(n));
  expect(await other.storeEvent("s", message("first"))).toBe("1");
  await other.storeEvent("s", message("second"));
  expect(await after("1", other)).toEqual(["second"]);
  expect(await after("1", one)).toEqual(["2", "3"]);
});

test("the empty event that begins a stream is not repeated, and events that just fill the memory are kept", async () => {
  const store = createEventMemory(2 * JSON.stringify(message("a")).length).open();
  const first = await store.storeEvent("s", {} as Parameters<typeof store.storeEvent>[1]);
  expect(await after(first, store)).toEqual([]);
  const kept = createEventMemory(2 * JSON.stringify(message("a")).length).open();
  const a = await kept.storeEvent("s", message("a"));
  await kept.storeEvent("s", message("b"));
  expect(await after(a, kept)).toEqual(["b"]);
  const empty = createEventMemory().open();
  const begun = await empty.storeEvent("s", message("0"));
  await empty.storeEvent("s", {} as Parameters<typeof store.storeEvent>[1]);
  await empty.storeEvent("s", message("1"));
  expect(await after(begun, empty)).toEqual(["1"]);
});
