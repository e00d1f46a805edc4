import type { StoredFile } from "manyhands";
import { type Flow, namedFiles } from "manyhands/flows";
import { madeIn } from "../result-files.ts";
import type { StepResult } from "./step-result.ts";
import type { TaskStep } from "./task-plan.ts";

/** The files a step has to deliver that aren't among these. A file's folder makes no difference. */
export function undelivered({ delivers }: TaskStep, files: readonly StoredFile[]): string[] {
  const there = new Set(files.map(({ name }) => baseName(name)));
  return delivers.flatMap(namedFiles).filter((name) => !there.has(baseName(name)));
}

/** Whether code can tell by a file that a step delivered something. */
export function deliversFile({ delivers }: TaskStep): boolean {
  return delivers.some((one) => namedFiles(one).length > 0);
}

/** The files that a task names and no step mentions, apart from those that came with it. */
export function unowned(goal: string, given: readonly string[], steps: readonly TaskStep[]): string[] {
  const mentioned = steps.flatMap(({ text, expected, delivers }) =>
    namedFiles([text, expected, ...delivers].join("\n")),
  );
  const known = new Set([...given, ...mentioned].map(baseName));
  return namedFiles(goal).filter((name) => !known.has(baseName(name)));
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).toLowerCase();
}

/**
 * Hands on to the caller what the completed steps among `fresh` made. Of two things with the same
 * name, one made from the other replaces it; otherwise the later one is put in a folder named after
 * its step.
 */
export function handOnSteps(flow: Flow, results: readonly StepResult[], fresh: readonly StepResult[]): void {
  const owners = new Map<string, { readonly step: string; readonly content: string }>();
  const before = ancestry(results);
  const made = (of: readonly StepResult[]) =>
    of
      .filter(({ outcome }) => outcome === "completed")
      .flatMap((one) => madeIn(one).map((each) => ({ ...each, step: one.step })));
  for (const { step, name, content } of made(results)) {
    const owner = owners.get(name);
    if (owner?.content === content) continue;
    const isFree = owner === undefined || before(step.id).has(owner.step);
    if (isFree) owners.set(name, { step: step.id, content });
  }
  for (const { step, name, content, handOn } of made(fresh)) {
    const owner = owners.get(name);
    if (owner?.step === step.id) handOn(flow, name);
    else if (owner !== undefined && !before(owner.step).has(step.id) && owner.content !== content)
      handOn(flow, `${step.id}/${name}`);
  }
}

/** All steps that a step depends on, including indirectly. */
function ancestry(results: readonly StepResult[]): (id: string) => ReadonlySet<string> {
  const known = new Map<string, Set<string>>();
  for (const { step } of results) {
    known.set(step.id, new Set(step.dependsOn.flatMap((id) => [id, ...(known.get(id) ?? [])])));
  }
  return (id) => known.get(id) ?? new Set();
}
