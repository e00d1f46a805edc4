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
