import { expect, test } from "bun:test";
import type { StoredFile } from "manyhands";
import type { Flow } from "manyhands/flows";
import { handOnSteps, undelivered, unowned } from "./deliverables.ts";
import type { StepResult } from "./step-result.ts";
import type { TaskStep } from "./task-plan.ts";
import { notStarted } from "./work-step.ts";

const file = (name: string, content: string): StoredFile => ({
  name,
  mediaType: "text/plain",
  size: 1,
  sha256: content,
});

function step(id: string, dependsOn: readonly string[], ...files: StoredFile[]): StepResult {
  const about = { id, text: id, agent: "one", dependsOn, expected: "", delivers: [] };
  return { ...notStarted(about), outcome: "completed", files };
}

/** The files handed on from these results, as `name content`. */
function handedOn(results: readonly StepResult[], fresh = results): string[] {
  const told: string[] = [];
  const handOn = (files: readonly StoredFile[]) => told.push(...files.map(({ name, sha256 }) => `${name} ${sha256}`));
  handOnSteps({ handOn } as unknown as Flow, results, fresh);
  return told;
}

test("of a file and those derived from it, even through other steps, only the last is passed on", () => {
  const draft = step("1", [], file("report.md", "draft"));
  const numbers = step("2", ["1"], file("numbers.csv", "n"));
  const whole = step("3", ["2"], file("report.md", "whole"));
  expect(handedOn([draft, numbers, whole])).toEqual(["numbers.csv n", "report.md whole"]);
  expect(handedOn([draft, numbers, whole], [whole])).toEqual(["report.md whole"]);
});

test("of two unrelated files with one name the later is placed under its step, and identical ones are kept once", () => {
  const one = step("1", [], file("report.md", "a"));
  const other = step("2", [], file("report.md", "b"));
  expect(handedOn([one, other])).toEqual(["report.md a", "2/report.md b"]);
  expect(handedOn([one, step("2", [], file("report.md", "a"))])).toEqual(["report.md a"]);
  expect(handedOn([{ ...one, outcome: "failed" }, other])).toEqual(["report.md b"]);
});

const planned = (about: Partial<TaskStep>): TaskStep => ({
  ...{ id: "1", text: "", agent: "one", dependsOn: [], expected: "", delivers: [] },
  ...about,
});

test("what a step has to deliver is missing unless a file of that name is there, in any folder and case", () => {
  const step = planned({ delivers: ["out/Report.md and sums.csv", "a chart", "Report.md of 3.5 pages"] });
  expect(undelivered(step, [])).toEqual(["out/Report.md", "sums.csv", "Report.md"]);
  expect(undelivered(step, [file("elsewhere/report.MD", "x")])).toEqual(["sums.csv"]);
  expect(undelivered(step, [file("report.md", "x"), file("sums.csv", "y")])).toEqual([]);
});

test("a file that the task names is mentioned by a step, in its text, its result or what it delivers, or came with the task", () => {
  const goal = "From in.csv make a.md, b.md, sub/c.md and d.md; see https://x.example/e.md and Node.js";
  const steps = [planned({ text: "Write A.md" }), planned({ expected: "b.md has two lines", delivers: ["c.md"] })];
  expect(unowned(goal, [], [])).toEqual(["in.csv", "a.md", "b.md", "sub/c.md", "d.md", "Node.js"]);
  expect(unowned(goal, ["data/in.csv", "node.js"], steps)).toEqual(["d.md"]);
  expect(unowned("Say hello", [], steps)).toEqual([]);
});

test("what was handed on with an earlier result is not handed on again, and an identical file belongs to the first", () => {
  const first = step("1", [], file("a.md", "same"));
  const same = step("2", [], file("a.md", "same"));
  expect(handedOn([first, same], [same])).toEqual([]);
  const third = step("3", ["2"], file("a.md", "changed"));
  expect(handedOn([first, same, third], [third])).toEqual(["3/a.md changed"]);
});
