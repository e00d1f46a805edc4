import { expect, test } from "bun:test";
import { resultsText, type StepResult } from "./step-result.ts";
import { stepText, unknownInputs } from "./step-text.ts";
import { notStarted } from "./work-step.ts";

const step = (id: string) => ({
  id,
  text: `do ${id}`,
  agent: "manus",
  dependsOn: [],
  expected: `${id} is seen`,
  delivers: [],
});
const done = (id: string, contextId: string, goal = "the task"): StepResult => ({
  ...notStarted(step(id)),
  outcome: "completed",
  answer: `${id} reports`,
  contextId,
  goal,
});
const own = done("a", "c1");
const another = done("b", "c2");
const first = { goal: "the task", isWhole: false, inputs: [another], isRetry: false, reason: "" };

test("a step in a new conversation is told the task, its step and what came of those before", () => {
  const text = stepText(step("c"), first);
  for (const told of ["Your step: do c", "It is done when: c is seen", "the task", "b reports"])
    expect(text).toContain(told);
});

test("the only step of a plan is the task itself, and no part of a larger one", () => {
  expect(stepText(step("c"), { ...first, inputs: [], isWhole: true })).toBe(
    "The task:\nthe task\n\nYour step: do c\nIt is done when: c is seen",
  );
});

test("a step that goes on in a conversation is told what that does not have: neither the task nor its own reports", () => {
  const background = { ...first, inputs: [own, another], known: own };
  const text = stepText(step("c"), background);
  expect(text).toContain("Your step: do c");
  expect(text).toContain("builds on what you did in this conversation");
  expect(text).toContain("b reports");
  expect(text).not.toContain("a reports");
  expect(text).not.toContain("The whole task");
  expect(unknownInputs(background)).toEqual([another]);
});

test("another attempt by an agent that may have forgotten the first reads once why that failed", () => {
  const forgotten: StepResult = {
    ...done("c", "c1"),
    outcome: "failed",
    answer: "no paper",
    reason: "manus failed: no paper",
  };
  const { reason } = forgotten;
  const text = stepText(step("c"), { ...first, inputs: [], isRetry: true, forgotten, reason });
  expect(text).toContain("An earlier attempt did not do it: manus failed: no paper");
  expect(text).toContain("<report>\nno paper\n</report>");
  expect(text).not.toContain("Why it is not done");
  const replanned = resultsText([forgotten]);
  expect(replanned).toEndWith("<report>\nno paper\n</report>\nWhy it is not done: manus failed");
  const checked = resultsText([{ ...forgotten, reason: "the paper is blank" }]);
  expect(checked).toEndWith("Why it is not done: the paper is blank");
});

test("a task that was changed since is told again", () => {
  const text = stepText(step("c"), { ...first, goal: "the task, and more", inputs: [own], known: own });
  expect(text).toContain("The whole task, so that you know what it is for:\n> the task, and more");
});

test("another attempt is told why, and nothing that its conversation has", () => {
  const background = { ...first, inputs: [own, another], known: own, isRetry: true, reason: "it is empty" };
  const text = stepText(step("c"), background);
  expect(text).toContain("An earlier attempt did not do it: it is empty");
  expect(text).toContain("Your step: do c");
  expect(text).not.toContain("reports");
  expect(unknownInputs(background)).toEqual([]);
});

test("results without a conversation are told whatever the step goes on in", () => {
  const nowhere = done("d", "");
  expect(unknownInputs({ ...first, inputs: [nowhere, own], known: undefined })).toEqual([nowhere, own]);
  expect(unknownInputs({ ...first, inputs: [nowhere, own], known: own })).toEqual([nowhere]);
});
