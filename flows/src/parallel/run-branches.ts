import { abortable, type Flow } from "manyhands/flows";
import { type Branch, type BranchResult, canceledBranch, tellBranch, workBranch } from "../branch.ts";

/**
 * How branches run: how many at once, and what happens to the running ones once the policy is
 * settled.
 */
type RunOptions = {
  readonly policy: Policy;
  readonly concurrency: number;
  readonly rest: "cancel" | "await";
};

/**
 * Runs the branches until the policy is met or can no longer be met; the remaining ones are
 * canceled at their agents, or awaited too. The results are in the branches' order. The order in
 * which they ended is recorded, so that a replay settles the policy by the same ones.
 */
export async function runBranches(
  flow: Flow,
  branches: readonly Branch[],
  options: RunOptions,
): Promise<{ readonly results: readonly BranchResult[]; readonly met: boolean }> {
  const ends = createEnds<BranchResult>(branches.length);
  const ended = await flow.run.race([
    (own) => takeEnds(flow.over(own), branches.length, ends, options),
    async (own) => {
      const works = branches.map((branch, index) => async (each: Flow) => {
        ends.note(index, await workBranch(each, branch));
      });
      await flow.over(own).all(works, options);
      // The other side of the race decides once it has taken them all.
      return abortable(new Promise<never>(() => undefined), own.abortSignal);
    },
  ]);
  if (ended.size < branches.length) await flow.cancelOpen();
  const results = branches.map((branch, index) => ended.get(index) ?? canceledBranch(branch));
  for (const result of results) if (result.outcome === "canceled") tellBranch(flow, result);
  const completed = results.filter(({ outcome }) => outcome === "completed").length;
  return { results, met: completed >= options.policy.needed };
}

/** Takes the branches' results as they end, until no more are wanted. */
async function takeEnds(
  flow: Flow,
  count: number,
  ends: Ends<BranchResult>,
  { policy, rest }: RunOptions,
): Promise<ReadonlyMap<number, BranchResult>> {
  const taken = new Map<number, BranchResult>();
  let isSettled = false;
  for (let n = 0; n < count; n++) {
    const { abortSignal } = flow.run;
    await abortable(ends.reached(n + 1), abortSignal);
    const index = await flow.run.step("branch ended", async () => ends.next(taken), { effect: "pure" });
    const result = await abortable(ends.result(index), abortSignal);
    taken.set(index, result);
    tellBranch(flow, result);
    if (!isSettled) isSettled = settle(flow, policy, [...taken.values()]);
    if (isSettled && rest === "cancel") break;
  }
  return taken;
}

/** Whether these results settle the policy; if so, emits that. */
function settle(flow: Flow, policy: Policy, results: readonly BranchResult[]): boolean {
  const completed = results.filter(({ outcome }) => outcome === "completed").length;
  const now = standing(policy, completed, results.length - completed);
  if (now === "open") return false;
  const words = policyText(policy);
  const reason = `${completed} completed, ${results.length - completed} failed, and ${words} had to complete`;
  const met = now === "met";
  const note = met ? `Enough is there: ${reason}` : `It cannot be met any more: ${reason}`;
  flow.tell({
    type: "policy-settled",
    note,
    data: { policy: words, met, reason, outcome: met ? "completed" : "failed" },
  });
  return true;
}

/** How many of all branches must complete, and the caller's name for that. */
export type Policy = { readonly name: "all" | "any" | "quorum"; readonly needed: number; readonly total: number };

/** Whether the policy is met, can still be met, or cannot be met any more. */
type Standing = "met" | "open" | "impossible";

/** The state of a policy after this many completed and failed branches. */
function standing({ needed, total }: Policy, completed: number, failed: number): Standing {
  if (completed >= needed) return "met";
  return total - failed < needed ? "impossible" : "open";
}

/** A policy in words. */
export function policyText({ name, needed, total }: Policy): string {
  return name === "quorum" ? `${needed} of ${total}` : `${name} of ${total}`;
}

/**
 * The ends of branches as they happen, taken one by one. In memory only: a replay produces them
 * again, perhaps in another order.
 */
type Ends<T> = {
  /** Records the result of the branch at `index`. */
  note(index: number, result: T): void;
  /** Resolves once `count` branches have ended. */
  reached(count: number): Promise<void>;
  /** The first branch that has ended and is not taken yet; call it only if there is one. */
  next(taken: ReadonlyMap<number, unknown>): number;
  /** A branch's result, once it has one. */
  result(index: number): Promise<T>;
};

/** Creates `Ends` for `count` branches. */
function createEnds<T>(count: number): Ends<T> {
  const order: number[] = [];
  const counts = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const results = Array.from({ length: count }, () => Promise.withResolvers<T>());
  return {
    note(index, result) {
      results[index]?.resolve(result);
      counts[order.push(index) - 1]?.resolve();
    },
    reached: async (wanted) => counts[wanted - 1]?.promise,
    next(taken) {
      const index = order.find((one) => !taken.has(one));
      if (index === undefined) throw new RangeError("No branch has ended that is not taken.");
      return index;
    },
    result(index) {
      const found = results[index];
      if (found === undefined) throw new RangeError(`There is no branch ${index}.`);
      return found.promise;
    },
  };
}
