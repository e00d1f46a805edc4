import { expect, test } from "bun:test";
import { ProgressOrder } from "./progress-order.ts";

/** What is shown, and how often the commits were hurried. */
function ordered() {
  const shown: unknown[] = [];
  let hurried = 0;
  const order = new ProgressOrder(
    ({ n }) => void shown.push(n),
    () => void hurried++,
  );
  const show = (n: number, isCurrent = () => true) => order.show({ type: "delta", n }, isCurrent);
  return { order, show, shown, hurried: () => hurried };
}

test("progress is shown at once, or hurries the events before it and comes after the last of them", async () => {
  const { order, show, shown, hurried } = ordered();
  show(1);
  expect([shown, hurried()]).toEqual([[1], 0]);
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  order.after(one.promise);
  order.after(other.promise);
  show(2);
  one.resolve();
  await Bun.sleep(0);
  expect([shown, hurried()]).toEqual([[1], 1]);
  other.reject(new Error("not ours any more"));
  await Bun.sleep(0);
  show(3);
  expect([shown, hurried()]).toEqual([[1, 2, 3], 1]);
});

test("what is out of date when its turn comes is not shown, nor more than a thousand items that wait", async () => {
  const { order, show, shown } = ordered();
  const commit = Promise.withResolvers<void>();
  order.after(commit.promise);
  let isCurrent = true;
  show(0, () => isCurrent);
  for (let n = 1; n < 1_002; n++) show(n);
  isCurrent = false;
  commit.resolve();
  await Bun.sleep(0);
  expect(shown).toEqual(Array.from({ length: 999 }, (_, index) => index + 1));
});
