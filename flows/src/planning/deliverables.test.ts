import { expect, test } from "bun:test";
import type { StoredFile } from "manyhands";
import type { Flow } from "manyhands/flows";
import { handOnSteps } from "./deliverables.ts";
import type { StepResult } from "./step-result.ts";
import { unbegun } from "./work-step.ts";

const file = (name: string, content: string): StoredFile => ({
  name,
  mediaType: "text/plain",
  size: 1,
  sha256: content,
});

function step(id: string, dependsOn: readonly string[], ...files: StoredFile[]): StepResult {
  const about = { id, text: id, agent: "one", dependsOn, expected: "", delivers: [] };
  return { ...unbegun(about), outcome: "completed", files };
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
