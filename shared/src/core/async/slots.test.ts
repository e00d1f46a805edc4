import { expect, test } from "bun:test";
import { createSlots } from "./slots.ts";

test("a branch canceled while it waits for a slot leaves the slot to the next branch", async () => {
  const slots = createSlots(1);
  const [first, stay] = [Promise.withResolvers<void>(), new AbortController().signal];
  const done: string[] = [];
  const work = (name: string) => async () => void done.push(name);
  const holding = slots.within(stay, () => first.promise);
  const leaving = new AbortController();
  const left = slots.within(leaving.signal, work("left"));
  const waiting = ["second", "third"].map((name) => slots.within(stay, work(name)));
  leaving.abort(new Error("not needed"));
  expect(left).rejects.toThrow("not needed");
  first.resolve();
  await Promise.all([holding, ...waiting]);
  expect(done).toEqual(["second", "third"]);
});

test("as many work at once as there are slots, also after one failed; each gets its turn in the order it came", async () => {
  const slots = createSlots(2);
  const stay = new AbortController().signal;
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const all = gates.map(({ promise }, n) =>
    slots.within(stay, () => {
      begun.push(n);
      return promise;
    }),
  );
  await Bun.sleep(0);
  expect(begun).toEqual([0, 1]);
  gates[1]?.reject(new Error("failed"));
  await all[1]?.catch(() => undefined);
  await Bun.sleep(0);
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  await Promise.allSettled(all);
  expect(begun).toEqual([0, 1, 2, 3]);
  // All slots are free again.
  const again = Promise.all([0, 1].map((n) => slots.within(stay, async () => begun.push(n))));
  await again;
  expect(begun).toHaveLength(6);
});

test("a branch canceled before or after it works takes no slot from the others", async () => {
  const slots = createSlots(1);
  const gone = AbortSignal.abort(new Error("not needed"));
  await expect(slots.within(gone, async () => 1)).rejects.toThrow("not needed");
  const done = new AbortController();
  const first = Promise.withResolvers<void>();
  const holding = slots.within(new AbortController().signal, () => first.promise);
  const second = slots.within(done.signal, async () => "second");
  first.resolve();
  await holding;
  expect(await second).toBe("second");
  done.abort();
  expect(await slots.within(new AbortController().signal, async () => "third")).toBe("third");
  // Nor the turn of one who waits when it is over.
  const over = new AbortController();
  const stay = new AbortController().signal;
  const gates = [0, 1].map(() => Promise.withResolvers<void>());
  const before = slots.within(stay, () => (gates[0] as (typeof gates)[0]).promise);
  const working = slots.within(over.signal, () => (gates[1] as (typeof gates)[0]).promise);
  const waiting = slots.within(stay, async () => "served");
  gates[0]?.resolve();
  await before;
  over.abort();
  gates[1]?.resolve();
  await working;
  expect(await Promise.race([waiting, Bun.sleep(10_000)])).toBe("served");
});
