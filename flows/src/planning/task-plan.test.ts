import { expect, test } from "bun:test";
import { entryForTest } from "../flow-for-test.ts";
import { draftSteps } from "./plan-draft.ts";
import { readDraft, type TaskStep } from "./task-plan.ts";

const charts = [{ id: "charts", name: "Draw charts", description: "", tags: ["plot"], examples: [] }];
const agents = [entryForTest("swe", "http://a"), { ...entryForTest("data-analysis", "http://b"), skills: charts }];
const done: TaskStep = { id: "1", text: "Done", agent: "swe", dependsOn: [], expected: "" };
const read = (steps: object[], finished: readonly TaskStep[] = [], mostSteps = 4) =>
  readDraft(draftSteps.parse(steps), { agents, finished, mostSteps });
const fault = (...args: Parameters<typeof read>) => {
  const draft = read(...args);
  return "fault" in draft ? draft.fault : "";
};

test("what is meant is put right: spelling, skills, missing ids, numbers for ids, the order", () => {
  expect(
    read([
      { id: "b", text: "B", agent: "Data_Analysis", depends_on: [2, "2"] },
      { text: "A", agent: "skill:plot something" },
      { text: "C", agent: "draw charts", depends_on: ["b"], expected: " a chart " },
    ]),
  ).toEqual({
    steps: [
      { id: "2", text: "A", agent: "data-analysis", dependsOn: [], expected: "" },
      { id: "b", text: "B", agent: "data-analysis", dependsOn: ["2"], expected: "" },
      { id: "3", text: "C", agent: "data-analysis", dependsOn: ["b"], expected: "a chart" },
    ],
  });
});

test("steps may depend on finished ones, whose ids are taken", () => {
  expect(read([{ text: "Next", agent: "swe", depends_on: ["1"] }], [done])).toEqual({
    steps: [{ id: "2", text: "Next", agent: "swe", dependsOn: ["1"], expected: "" }],
  });
  expect(fault([{ id: "1", text: "Again", agent: "swe" }], [done])).toBe(
    "There is a step 1 already; give each its own id.",
  );
});

test("what cannot be put right is named", () => {
  expect(fault([{ text: "A", agent: "cook" }])).toBe('Step 1: there is no agent "cook"; there are swe, data-analysis.');
  expect(fault([{ id: "a", text: "A", agent: "swe", depends_on: ["a"] }])).toContain("The steps a wait for");
  expect(fault([{ id: "a", text: "A", agent: "swe", depends_on: ["x", "y"] }])).toBe(
    "Step a depends on x, y, which no step is.",
  );
  expect(fault(Array(5).fill({ text: "A", agent: "swe" }))).toBe("The plan has 5 steps; 4 is the most.");
});
