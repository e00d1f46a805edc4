import type { Flow } from "manyhands/flows";
import type { StepResult } from "./step-result.ts";

/**
 * Hands the files of the completed steps among `fresh` on to the caller. Of two by the same name the one made from the other takes its place; otherwise the
 * later is put under its step's id.
 */
export function handOnFiles(flow: Flow, results: readonly StepResult[], fresh: readonly StepResult[]): void {
  const owners = new Map<string, { readonly step: string; readonly sha256: string }>();
  const before = ancestry(results);
  for (const { step, outcome, files } of results) {
    if (outcome !== "completed") continue;
    for (const file of files) {
      const owner = owners.get(file.name);
      if (owner?.sha256 === file.sha256) continue;
      const isFree = owner === undefined || before(step.id).has(owner.step);
      if (isFree) owners.set(file.name, { step: step.id, sha256: file.sha256 });
    }
  }
  for (const { step, outcome, files } of fresh) {
    if (outcome !== "completed") continue;
    for (const file of files) {
      const owner = owners.get(file.name);
      if (owner?.step === step.id) flow.handOn([file]);
      else if (owner !== undefined && !before(owner.step).has(step.id) && owner.sha256 !== file.sha256)
        flow.handOn([{ ...file, name: `${step.id}/${file.name}` }]);
    }
  }
}

/** All steps that a step depends on, through others too. */
function ancestry(results: readonly StepResult[]): (id: string) => ReadonlySet<string> {
  const known = new Map<string, Set<string>>();
  for (const { step } of results) {
    known.set(step.id, new Set(step.dependsOn.flatMap((id) => [id, ...(known.get(id) ?? [])])));
  }
  return (id) => known.get(id) ?? new Set();
}
