import { expect, test } from "bun:test";
import { entryForTest } from "manyhands/internal/testing/flow";
import { draftSteps } from "./plan-draft.ts";
import { readDraft, type TaskStep } from "./task-plan.ts";

const charts = [{ id: "charts", name: "Draw charts", description: "", tags: ["plot"], examples: [] }];
const agents = [entryForTest("swe", "http://a"), { ...entryForTest("data-analysis", "http://b"), skills: charts }];
const done: TaskStep = { id: "1", text: "Done", agent: "swe", dependsOn: [], expected: "", delivers: [] };
const read = (steps: object[], finished: readonly TaskStep[] = [], maxSteps = 4) =>
  readDraft(draftSteps.parse(steps), { agents, finished, maxSteps });
const fault = (...args: Parameters<typeof read>) => {
  const draft = read(...args);
  return "fault" in draft ? draft.fault : "";
};

test("obvious slips are corrected: spelling, skills named as such, missing ids, numbers for ids, the order", () => {
  expect(
    read([
      { id: "b", text: "B", agent: "Data_Analysis", depends_on: [2, "2"] },
      { text: "A", agent: "skill:plot something" },
      { text: "C", agent: "skill:draw charts", depends_on: ["b"], expected: " a chart ", delivers: ["a.png"] },
    ]),
  ).toEqual({
    steps: [
      { id: "2", text: "A", agent: "data-analysis", dependsOn: [], expected: "", delivers: [] },
      { id: "b", text: "B", agent: "data-analysis", dependsOn: ["2"], expected: "", delivers: [] },
      { id: "3", text: "C", agent: "data-analysis", dependsOn: ["b"], expected: "a chart", delivers: ["a.png"] },
    ],
    chosen: [
      {
        wanted: "skill:plot something",
        agent: "data-analysis",
        reason: `data-analysis's skill "Draw charts" fits best: plot.`,
      },
      {
        wanted: "skill:draw charts",
        agent: "data-analysis",
        reason: `data-analysis's skill "Draw charts" fits best: draw, charts.`,
      },
    ],
  });
});

test("steps may depend on finished ones, whose ids are not reused", () => {
  expect(read([{ text: "Next", agent: "swe", depends_on: ["1"] }], [done])).toEqual({
    steps: [{ id: "2", text: "Next", agent: "swe", dependsOn: ["1"], expected: "", delivers: [] }],
    chosen: [],
  });
  expect(fault([{ id: "1", text: "Again", agent: "swe" }], [done])).toBe(
    "There is a step 1 already; give each its own id.",
  );
});

test("all uncorrectable errors are reported at once; an unknown agent is not replaced by another", () => {
  expect(fault([{ text: "A", agent: "cook" }])).toBe('Step 1: there is no agent "cook"; there are swe, data-analysis.');
  expect(fault([{ id: "a", text: "A", agent: "swe", depends_on: ["a"] }])).toContain("The steps a wait for");
  expect(fault([{ id: "a", text: "A", agent: "swe", depends_on: ["x", "y"] }])).toBe(
    "Step a depends on x, y, which no step is.",
  );
  expect(
    fault([
      { id: "a", text: "A", agent: "plot something", depends_on: ["b"] },
      { id: "b", text: "B", agent: "swe", depends_on: ["a", "x"] },
      { id: "c", text: "C", agent: "swe", depends_on: ["x"] },
    ]),
  ).toBe(
    [
      'Step a: there is no agent "plot something"; there are swe, data-analysis.',
      "Step b depends on x, which no step is.",
      "Step c depends on x, which no step is.",
      "The steps a, b wait for each other in a ring; none of them could begin.",
    ].join("\n"),
  );
  expect(fault(Array(5).fill({ text: "A", agent: "swe" }))).toBe("The plan has 5 steps; 4 is the most.");
});
