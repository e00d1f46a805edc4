import { expect, test } from "bun:test";
import { Waiters } from "./waiters.ts";

/** Who goes on, in order, of those that wait as `NAME RANK`. */
async function woken(turns: readonly string[], served?: string): Promise<string[]> {
  const waiters = new Waiters();
  const order: string[] = [];
  const all = turns.map(async (turn) => {
    const [name = "", rank = ""] = turn.split(" ");
    await waiters.wait(60_000, { name, rank });
    order.push(turn);
  });
  waiters.wake(served);
  await Promise.all(all);
  return order;
}

test("those who wait go on in turn: names after the last served first, and of one name the lowest rank", async () => {
  const turns = ["ann 3", "ann 1", "ann 2", "bob 5", "eve 4"];
  expect(await woken(turns)).toEqual(["ann 1", "bob 5", "eve 4", "ann 2", "ann 3"]);
  expect(await woken(turns, "ann")).toEqual(["bob 5", "eve 4", "ann 1", "ann 2", "ann 3"]);
  expect(await woken(turns, "eve")).toEqual(["ann 1", "bob 5", "eve 4", "ann 2", "ann 3"]);
});

test("one whose time is over goes on alone", async () => {
  const waiters = new Waiters();
  await waiters.wait(1);
  waiters.wake();
});
