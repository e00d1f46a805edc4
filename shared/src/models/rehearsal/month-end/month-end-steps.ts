/** The beginning of the demo's task. */
export const monthEndGoal = "Prepare the shop's month-end handover.";

/** The steps of the plan for it. Scripts are found by these texts. */
export const monthEndSteps = {
  analyse: "Analyse orders.csv, check the figures a second way and chart the revenue per month",
  repair: "Find and fix the bug in shipping.tar.gz, so that its tests pass",
  register: "Make the registration that the task describes and note its number",
  report: "Write report.md from the results and files of the other steps",
} as const;

/** The first address in a text, if any. */
export function addressIn(text: string): string | undefined {
  return /https?:\/\/[^\s"<>]+\/(?=[\s.,;:]|$)/.exec(text)?.[0];
}
