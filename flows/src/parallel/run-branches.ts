import type { Flow } from "manyhands/flows";
import { type Branch, type BranchResult, canceledBranch, tellBranch, workBranch } from "../branch.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { createEnds, type Ends } from "./ends.ts";
import { type Policy, policyText, standing } from "./policy.ts";

/** How branches are run: how many at once, and what becomes of those at work once the policy is settled. */
export type RunOptions = {
  readonly policy: Policy;
  readonly concurrency: number;
  readonly rest: "cancel" | "await";
};

/**
 * Runs the branches until the policy is met or cannot be met any more, and has what is left canceled at the agents, or awaits it too. The results
 * are in the branches' order. In which order they ended is recorded, so that a replay settles the policy by the same ones.
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
      // The other side of the race decides, when it has taken them all.
      return unlessAborted(new Promise<never>(() => undefined), own.abortSignal);
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
    await unlessAborted(ends.reached(n + 1), abortSignal);
    const index = await flow.run.step("branch ended", async () => ends.next(taken), { effect: "pure" });
    const result = await unlessAborted(ends.result(index), abortSignal);
    taken.set(index, result);
    tellBranch(flow, result);
    if (!isSettled) isSettled = settle(flow, policy, [...taken.values()]);
    if (isSettled && rest === "cancel") break;
  }
  return taken;
}

/** Whether the policy is settled by these results; tells so. */
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
