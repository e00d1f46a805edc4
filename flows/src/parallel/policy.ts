/** How many of all branches must complete, and the caller's name for that. */
export type Policy = { readonly name: "all" | "any" | "quorum"; readonly needed: number; readonly total: number };

/** Whether a policy is met, can still be met, or cannot be met any more. */
export type PolicyState = "met" | "open" | "impossible";

/** The state of a policy after this many completed and failed branches. */
export function policyState({ needed, total }: Policy, completed: number, failed: number): PolicyState {
  if (completed >= needed) return "met";
  return total - failed < needed ? "impossible" : "open";
}

/** A policy in words. */
export function policyText({ name, needed, total }: Policy): string {
  return name === "quorum" ? `${needed} of ${total}` : `${name} of ${total}`;
}
