import { expect, test } from "bun:test";
import type { Engine, ListFilter, RunRecord, StartRequest } from "../../core/runs/engine.ts";
import { createDeliveries } from "./deliveries.ts";
import { gaveUp } from "./push-run.ts";

const day = 24 * 3_600_000;
const input = { taskId: "t", config: { id: "r", url: "https://r.example", token: "secret", wire: "1.0" }, after: 4 };

function deliveriesOf(
  over: Partial<RunRecord> | undefined,
  { snapshot = true, told = [] as readonly number[], hasTask = false } = {},
) {
  const seen: { filter?: ListFilter; started?: StartRequest } = {};
  const run = {
    id: "d",
    kind: "greeter/push",
    principal: "ann",
    contextId: "t",
    status: "failed",
    input: { ...input, snapshot },
    updatedAt: 9,
    ...over,
  } as RunRecord;
  const events = [
    { type: gaveUp },
    ...told.map((after) => ({ type: gaveUp, after, ...(hasTask && { hasTask }) })),
    { type: "other", after: 99 },
  ];
  const engine = {
    get: async () => (over === undefined ? undefined : run),
    list: async (filter: ListFilter) => {
      seen.filter = filter;
      return { runs: [run], total: 1 };
    },
    start: async (request: StartRequest) => {
      seen.started = request;
      return { run: { ...run, id: "d2", status: "queued", input: request.input } as RunRecord, created: true };
    },
    events: async () => events.map((event, at) => ({ runId: "d", seq: at + 1, at: 0, event })),
  } as unknown as Engine;
  return {
    seen,
    deliveries: createDeliveries(
      engine,
      () => ["other/push", "greeter/push"],
      () => 40 * day,
    ),
  };
}

test.each([
  ["failed", "failed"],
  ["completed", "delivered"],
  ["canceled", "removed"],
  ["running", "active"],
  ["waiting", "active"],
  ["queued", "active"],
  ["paused", "active"],
] as const)("a delivery whose run is %s is shown as %s", async (status, state) => {
  const { deliveries } = deliveriesOf({ status });
  const { state: shown, ...rest } = await deliveries.get("d", "ann");
  expect(shown).toBe(state);
  expect(rest).toEqual({ id: "d", taskId: "t", url: "https://r.example", after: 4, updatedAt: 9 });
});

test("those given up in the last thirty days are listed, or all of every state", async () => {
  const { seen, deliveries } = deliveriesOf({ error: { code: "rejected", message: "It is gone." } });
  const [first] = await deliveries.list("ann", { all: false, limit: 7 });
  const kinds = ["other/push", "greeter/push"];
  expect(seen.filter).toEqual({ principal: "ann", kinds, limit: 7, statuses: ["failed"], updatedSince: 10 * day });
  expect(first).toMatchObject({ reason: "It is gone." });
  await deliveries.list("ann", { all: true, limit: 7 });
  expect(seen.filter).toEqual({ principal: "ann", kinds, limit: 7 });
});

test.each([
  ["of another principal", { principal: "bob" }],
  ["that is a run of another kind", { kind: "greeter" }],
  ["that is not there", undefined],
] as const)("a delivery %s is not found", async (_, over) => {
  const { deliveries, seen } = deliveriesOf(over as Partial<RunRecord> | undefined);
  await expect(deliveries.get("d", "ann")).rejects.toMatchObject({ code: "not_found" });
  await expect(deliveries.retry("d", "ann")).rejects.toMatchObject({ code: "not_found" });
  expect(seen.started).toBeUndefined();
});

test.each(["completed", "canceled", "running", "waiting"] as const)(
  "a delivery that is %s is not sent again",
  async (status) => {
    const { deliveries, seen } = deliveriesOf({ status });
    await expect(deliveries.retry("d", "ann")).rejects.toMatchObject({ code: "conflict" });
    expect(seen.started).toBeUndefined();
  },
);

test.each([
  // The task as it was is sent again only if the receiver never took it.
  [[], true, false, 4, true],
  [[], false, false, 4, false],
  [[4], true, false, 4, true],
  [[4], true, true, 4, false],
  [[5], true, false, 5, false],
  [[5, 8], true, false, 8, false],
] as const)(
  "a delivery told up to %j, with the task first: %p, and taken: %p, starts again after %i",
  async (told, snapshot, hasTask, after, again) => {
    const { deliveries, seen } = deliveriesOf({}, { snapshot, told, hasTask });
    expect(await deliveries.retry("d", "ann")).toMatchObject({ id: "d2", state: "active" });
    expect(seen.started).toEqual({
      kind: "greeter/push",
      contextId: "t",
      principal: "ann",
      input: { ...input, after, snapshot: again },
      dedupe: { key: '["greeter/push","retry","d"]' },
    });
  },
);
