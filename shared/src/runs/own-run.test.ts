import { expect, test } from "bun:test";
import type { RunRecord } from "../core/runs/engine.ts";
import { ownRun } from "./own-run.ts";

const run = { id: "r1", principal: "alice", kind: "manus" } as RunRecord;
const asked: unknown[] = [];
/** An engine that has one run and shows it to everybody who knows its id. */
const engine = {
  get: async (...request: unknown[]) => {
    asked.push(request);
    return request[0] === run.id ? run : undefined;
  },
};

test("a run is found by its own principal, of any kind or of its own", async () => {
  expect(await ownRun(engine, "r1", { principal: "alice" })).toBe(run);
  expect(await ownRun(engine, "r1", { principal: "alice", kind: "manus" })).toBe(run);
  expect(asked).toEqual(Array(2).fill(["r1", "alice"]));
});

test.each([
  ["of another principal", "r1", { principal: "bob" }, "There is no run r1."],
  ["of another principal, asked for by its kind", "r1", { principal: "bob", kind: "manus" }, "There is no run r1."],
  ["of another kind", "r1", { principal: "alice", kind: "swe" }, "There is no run r1."],
  ["of a kind that another's name begins with", "r1", { principal: "alice", kind: "man" }, "There is no run r1."],
  ["that never was", "r2", { principal: "alice", called: "task" }, "There is no task r2."],
] as const)("a run %s looks like one that never existed", async (_, id, own, message) => {
  await expect(ownRun(engine, id, own)).rejects.toMatchObject({ code: "not_found", message });
});
