import { expect, spyOn, test } from "bun:test";
import { createFairQueue } from "./fair-queue.ts";

const never = new AbortController().signal;

/** Who is let in, in order, of callers that come at once; each leaves when the next is to begin. */
async function served(names: readonly string[], gone: readonly number[] = []): Promise<string[]> {
  const queue = createFairQueue();
  const order: string[] = [];
  const first = await queue.turn("first", never);
  const all = names.map(async (name, at) => {
    const leaving = new AbortController();
    const turn = queue.turn(name, leaving.signal);
    if (gone.includes(at)) leaving.abort(new Error("gone"));
    const leave = await turn.catch((error: Error) => error.message);
    order.push(typeof leave === "string" ? leave : `${name}${at}`);
    if (typeof leave !== "string") leave();
  });
  first();
  first();
  await Promise.all(all);
  // Nobody is left in the way.
  (await queue.turn("last", never))();
  return order;
}

test("callers of one name come in order, and names in turn", async () => {
  expect(await served(["ann", "ann", "ann", "bob", "eve", "bob"])).toEqual([
    "ann0",
    "bob3",
    "eve4",
    "ann1",
    "bob5",
    "ann2",
  ]);
});

test("who comes again before the end of its turn lets one of another name go first", async () => {
  const queue = createFairQueue();
  const leave = await queue.turn("ann", never);
  const order: string[] = [];
  const others = ["ann", "bob"].map(async (name) => {
    const end = await queue.turn(name, never);
    order.push(name);
    end();
  });
  leave();
  await Promise.all(others);
  expect(order).toEqual(["bob", "ann"]);
});

test("who gives up has no turn, and takes none away", async () => {
  expect(await served(["ann", "ann", "bob", "ann"], [0, 2])).toEqual(["gone", "gone", "ann1", "ann3"]);
  expect(await served(["ann"], [0])).toEqual(["gone"]);
});

test("one whose signal has aborted already is refused", async () => {
  await expect(createFairQueue().turn("ann", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

test("who leaves twice lets one in, not two", async () => {
  const queue = createFairQueue();
  const leave = await queue.turn("first", never);
  const begun: string[] = [];
  const others = ["ann", "bob"].map(async (name) => {
    const end = await queue.turn(name, never);
    begun.push(name);
    return end;
  });
  leave();
  leave();
  (await others[0])?.call(undefined);
  expect(begun).toEqual(["ann"]);
  (await others[1])?.call(undefined);
});

test("one whose turn has come no longer listens to whether it gives up", async () => {
  const queue = createFairQueue();
  const leave = await queue.turn("ann", never);
  const { signal } = new AbortController();
  const heard = spyOn(signal, "removeEventListener");
  const turn = queue.turn("bob", signal);
  leave();
  (await turn)();
  expect(heard).toHaveBeenCalledTimes(1);
});
