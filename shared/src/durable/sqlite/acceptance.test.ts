import { expect, test } from "bun:test";
import { LeaseLost } from "../replay/run-store.ts";
import { Acceptance } from "./acceptance.ts";

test("a run whose start was undone keeps no number, which another run may have by then", async () => {
  const [stored, undone] = [new Acceptance("w"), new Acceptance("w")];
  const records = [stored, undone].map((one) => one.end({ status: "completed", output: null }));
  const kept = Promise.allSettled(records);
  for (const one of [stored, undone]) one.lease.n = 7;
  stored.settle(true);
  undone.settle(false);
  expect([stored.lease.n, undone.lease.n]).toEqual([7, 0]);
  expect((await kept).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await expect(records[1]).rejects.toBeInstanceOf(LeaseLost);
});
