import { expect, test } from "bun:test";
import { type Firing, type StartState, withFiring } from "./start-book.ts";

const firing = (due: number, more: Partial<Firing> = {}): Firing => ({ due, at: due, outcome: "started", ...more });
const listed = (firings: readonly Firing[]) =>
  firings.reduce<StartState>((state, one) => withFiring(state, one), { firings: [] }).firings;

test("the last twenty firings are listed, in their order", () => {
  const all = Array.from({ length: 25 }, (_, due) => firing(due, { runId: `r${due}` }));
  expect(listed(all)).toEqual(all.slice(5));
});

test("of what several say became of a time the run that was started counts, whoever is first", () => {
  const refused = firing(1, { outcome: "refused", reason: "no" });
  const started = firing(1, { runId: "r1" });
  for (const order of [
    [refused, started],
    [started, refused],
    [refused, started, started, refused],
  ])
    expect(listed(order)).toEqual([started]);
  expect(listed([refused, refused])).toEqual([refused]);
});

test("deliveries of one moment, and times of one run, are each listed", () => {
  const refused = (delivery: string) => firing(1, { outcome: "refused", delivery });
  const all = [refused("a"), refused("b"), firing(1, { runId: "r1", delivery: "c" }), firing(2, { runId: "r2" })];
  expect(listed(all)).toEqual(all);
  const twice = [firing(1, { runId: "r1" }), firing(1, { runId: "r2" })];
  expect(listed(twice)).toEqual(twice);
});
