import { abortable, type Flow } from "manyhands/flows";
import { type Branch, type BranchResult, canceledBranch, tellBranch, workBranch } from "../branch.ts";
import { type BranchEnds, createBranchEnds } from "./branch-ends.ts";
import { type Policy, policyState, policyText } from "./policy.ts";

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
  const ends = createBranchEnds<BranchResult>(branches.length);
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
  ends: BranchEnds<BranchResult>,
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
  const state = policyState(policy, completed, results.length - completed);
  if (state === "open") return false;
  const words = policyText(policy);
  const reason = `${completed} completed, ${results.length - completed} failed, and ${words} had to complete`;
  const met = state === "met";
  const note = met ? `Enough is there: ${reason}` : `It cannot be met any more: ${reason}`;
  flow.tell({
    type: "policy-settled",
    note,
    data: { policy: words, met, reason, outcome: met ? "completed" : "failed" },
  });
  return true;
}
