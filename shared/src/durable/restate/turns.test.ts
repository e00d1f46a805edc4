import { expect, test } from "bun:test";
import { Turns } from "./turns.ts";

/** Those that wait as `NAME RANK`, who go on in `order`. */
function waiting(all: readonly string[]) {
  const turns = new Turns();
  const order: string[] = [];
  const done = all.map(async (each) => {
    const [name = "", rank = ""] = each.split(" ");
    if (await turns.wait(60_000, name, rank)) order.push(each);
  });
  return { turns, order, done };
}

test("those who wait go on in turn: the name after the last served first, and of one name the lowest rank", async () => {
  const { turns, order, done } = waiting(["ann 3", "ann 1", "ann 2", "bob 5", "eve 4", "ann 1"]);
  while (turns.next());
  await Promise.all(done);
  expect(order).toEqual(["ann 1", "bob 5", "eve 4", "ann 1", "ann 2", "ann 3"]);
});

test("a name that comes while others wait has the turn that its place gives it, however often the others come again", async () => {
  const { turns, order } = waiting(["ann 1", "ann 2", "ann 3"]);
  turns.next();
  const late = turns.wait(60_000, "bob", "9").then(() => order.push("bob 9"));
  turns.next();
  await late;
  expect(order).toEqual(["ann 1", "bob 9"]);
  turns.next();
  await Bun.sleep(0);
  expect(order.at(-1)).toBe("ann 2");
});

test("each turn is one's alone, and the others wait on", async () => {
  const { turns, order } = waiting(Array.from({ length: 100 }, (_, n) => `ann ${n}`));
  expect([turns.next(), turns.next()]).toEqual([true, true]);
  await Bun.sleep(0);
  expect(order.length).toBe(2);
});

test("who has waited too long has no turn, and takes none from those who wait on", async () => {
  const { turns, order, done } = waiting(["ann 1", "ann 3"]);
  expect(await turns.wait(1, "ann", "1")).toBe(false);
  expect(await turns.wait(1, "ann", "2")).toBe(false);
  while (turns.next());
  await Promise.all(done);
  expect([order, turns.isEmpty, turns.next()]).toEqual([["ann 1", "ann 3"], true, false]);
});

test("a turn is not given to one who has gone, where nobody else waits either", async () => {
  const turns = new Turns();
  expect(await turns.wait(1, "ann", "1")).toBe(false);
  expect([turns.isEmpty, turns.next()]).toEqual([true, false]);
});

test("nobody waits for what has ended", async () => {
  const { turns, order, done } = waiting(["ann 1", "bob 2"]);
  turns.end();
  await Promise.all(done);
  expect([order, turns.isEmpty]).toEqual([[], true]);
});
