import { expect, test } from "bun:test";
import { faultsOf, holds, streamFaults, valueAt } from "./acts-assert.ts";

const answer = { task: { id: "1", status: { state: "WORKING" }, artifacts: [{ parts: [{ text: "a" }] }] }, type: "x" };

test.each([
  [{ task: { id: { type: "string" }, status: { state: { one_of: ["WORKING", "DONE"] } } } }, 0],
  [{ task: { artifacts: { count_gte: 1, items: [{ parts: [{ text: { contains: "a" } }] }] } }, type: "x" }, 0],
  [{ message: { absent: true }, task: { exists: true } }, 0],
  [{ any_of: [{ message: { exists: true } }, { task: { status: { state: "WORKING" } } }] }, 0],
  [{ task: { id: "2", status: { state: { not: "WORKING" } } } }, 2],
  [{ task: { artifacts: { type: "array", count: 2 } } }, 1],
  [{ message: { role: "ROLE_AGENT" } }, 1],
  [{ task: { artifacts: { items: { parts: { count: 0 } } } } }, 1],
] as const)("an answer is held against %j", (wanted, faults) => {
  expect(faultsOf(answer, wanted)).toHaveLength(faults);
});

test("paths and conditions are read", () => {
  expect(valueAt(answer, "task.artifacts[0].parts[0].text")).toBe("a");
  const conditions = ["task.id == 1", "task.status.state in [DONE, WORKING]", "task.id != 1", "task.id in [2, 3]"];
  expect(conditions.map((condition) => holds(answer, condition))).toEqual([true, true, false, false]);
});

test("a stream may not go back, end twice or end otherwise", () => {
  const states = (...names: string[]) => names.map((name) => ({ status: { state: `TASK_STATE_${name}` } }));
  const ordered = (...names: string[]) => streamFaults(states(...names), { ordering: "monotonic_state" }).length;
  expect(ordered("SUBMITTED", "WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED")).toBe(0);
  expect(ordered("WORKING", "SUBMITTED")).toBe(1);
  expect(ordered("COMPLETED", "WORKING")).toBe(1);
  const wanted = { min_count: 3, final_event: { status: { state: "TASK_STATE_COMPLETED" } } };
  expect(streamFaults(states("WORKING", "FAILED"), wanted)).toHaveLength(2);
  expect(
    streamFaults(states("WORKING"), { events: [{ match: "any_position", artifact: { exists: true } }] }),
  ).toHaveLength(1);
});
