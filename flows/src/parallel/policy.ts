/** How many branches of all have to complete, and what the caller calls that. */
export type Policy = { readonly name: "all" | "any" | "quorum"; readonly needed: number; readonly of: number };

/** Whether that has come, can still come, or cannot come any more. */
export type Standing = "met" | "open" | "impossible";

/** Where a policy stands when so many branches have completed and so many have failed. */
export function standing({ needed, of }: Policy, completed: number, failed: number): Standing {
  if (completed >= needed) return "met";
  return of - failed < needed ? "impossible" : "open";
}

/** A policy in words. */
export function policyText({ name, needed, of }: Policy): string {
  return name === "quorum" ? `${needed} of ${of}` : `${name} of ${of}`;
}
