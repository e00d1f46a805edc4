import { expect, test } from "bun:test";
import { Live } from "./live.ts";

/** What a reader that begins now is shown, of a run that is executed here with two events. */
function executed() {
  const live = new Live();
  const over = live.execute("a", 2);
  const shown = (after = 0) => {
    const follower = live.follow("a", after);
    const items = follower.takeProgress(9).map(({ event }) => event.n);
    follower.leave();
    return items;
  };
  return { live, over, shown, show: (n: number, text = "") => live.progress("a", { type: "delta", n, text }) };
}

test("who begins late is shown what a run that is executed here showed since its last event, as often as it asks", () => {
  const { live, over, shown, show } = executed();
  show(1);
  expect([shown(), shown(2), shown(3)]).toEqual([[1], [1], []]);
  for (const [seq, left] of [
    [0, [1]],
    [2, [1]],
    [3, []],
  ] as const) {
    live.committed("a", seq);
    expect(shown()).toEqual([...left]);
  }
  show(2);
  expect([shown(), shown(3)]).toEqual([[2], [2]]);
  over();
  show(3);
  expect(shown()).toEqual([]);
});

test("the end of an earlier execution of a run takes nothing from the next one", () => {
  const { live, over, shown, show } = executed();
  live.execute("a", 2);
  over();
  show(1);
  expect(shown()).toEqual([1]);
});

test("of much that is shown the latest is kept: a thousand items, and no more than so many characters", () => {
  const { live, shown, show } = executed();
  for (let n = 0; n < 1_001; n++) show(n);
  expect(shown()).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  live.committed("a", 3);
  for (let n = 0; n < 5; n++) show(n, "x".repeat(90_000));
  expect(shown()).toEqual([3, 4]);
  show(5, "x".repeat(300_000));
  expect(shown()).toEqual([]);
});
