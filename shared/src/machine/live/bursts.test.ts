import { expect, spyOn, test } from "bun:test";
import { createBursts } from "./bursts.ts";

/** Requests of bursts, as they are asked for, and the numbers of those that have begun. */
function scene() {
  const bursts = createBursts();
  const begun: string[] = [];
  const turn = (id: string, number: number) =>
    bursts.turn({ id, number }).then(() => void begun.push(`${id}${number}`));
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { begun, turn, settle };
}

test("requests begin in their order, however they arrive, and one burst does not wait for another", async () => {
  const { begun, turn, settle } = scene();
  const all = [turn("a", 2), turn("a", 1), turn("b", 0)];
  await settle();
  expect(begun).toEqual(["b0"]);
  await turn("a", 0);
  await Promise.all(all);
  expect(begun).toEqual(["b0", "a0", "a1", "a2"]);
  // One that comes again, late, sets nothing back.
  await turn("a", 1);
  const next = turn("a", 3);
  await settle();
  expect(begun.slice(4)).toEqual(["a1", "a3"]);
  await next;
});

test("a request is not waited for longer than two seconds, and then the next ones go on from there", async () => {
  const { begun, turn } = scene();
  const { timeout } = AbortSignal;
  using waits = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 200));
  await turn("a", 5);
  await turn("a", 6);
  expect([begun, waits.mock.calls.every(([ms]) => ms === 2_000)]).toEqual([["a5", "a6"], true]);
});

test("of many bursts the latest are known", async () => {
  const { begun, turn, settle } = scene();
  const { timeout } = AbortSignal;
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 20));
  for (let n = 0; n < 65; n++) await turn(`${n}-`, 0);
  await turn("1-", 1);
  const waiting = turn("0-", 1);
  await settle();
  expect([begun.includes("1-1"), begun.includes("0-1")]).toEqual([true, false]);
  await waiting;
});
