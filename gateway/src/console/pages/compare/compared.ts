import type { CallItem, RunItem } from "../run/model/items.ts";
import { argumentsOf, resultOf } from "../run/model/rows.ts";
import type { RunTree } from "../run/model/run-tree.ts";
import { align, type Pair } from "./align.ts";

/** The calls of an agent's run on one side and of the one that stands for it on the other. */
export type ComparedRun = Pair<RunItem> & { readonly calls: readonly Pair<CallItem>[] };

/**
 * Two runs side by side: agents by their plan item and name, whichever began first, and their calls
 * by what was called, in the order of the calls.
 */
export function comparedRuns(a: RunTree, b: RunTree): readonly ComparedRun[] {
  // The runs themselves are compared whatever they are called.
  const pairs = [{ a: a.root, b: b.root }, ...counterparts(askedBy(a.root), askedBy(b.root))];
  return pairs.map((pair) => ({ ...pair, calls: align(callsOf(pair.a), callsOf(pair.b), calls) }));
}

const calls = {
  key: (call: CallItem) => `${call.name}\n${argumentsOf(call)}`,
  kind: (call: CallItem) => call.name,
};

/** Whether both sides called the same and got the same. */
export function isSameCall({ a, b }: Pair<CallItem>): boolean {
  return a !== undefined && b !== undefined && calls.key(a) === calls.key(b) && resultOf(a) === resultOf(b);
}

/** Each run with the one that was given the same to do, else with one of the same agent. */
function counterparts(a: readonly RunItem[], b: readonly RunItem[]): readonly Pair<RunItem>[] {
  const left = new Set(b);
  const found = new Map<RunItem, RunItem>();
  for (const nameOf of [(run: RunItem) => `${run.name}\n${run.title}`, (run: RunItem) => run.name])
    for (const run of a) {
      const other = found.has(run) ? undefined : [...left].find((one) => nameOf(one) === nameOf(run));
      if (other === undefined) continue;
      found.set(run, other);
      left.delete(other);
    }
  const pairs = a.map((run): Pair<RunItem> => {
    const other = found.get(run);
    return other === undefined ? { a: run } : { a: run, b: other };
  });
  return [...pairs, ...[...left].map((run) => ({ b: run }))];
}

/** All runs that a run asked for, and those that these asked for, in the order of the tree. */
function askedBy(run: RunItem): readonly RunItem[] {
  return run.children.flatMap((child) => (child.kind === "run" ? [child, ...askedBy(child)] : []));
}

/** The run's own calls. */
function callsOf(run: RunItem | undefined): readonly CallItem[] {
  return run?.children.filter((child) => child.kind === "call") ?? [];
}
