import type { SetupOutcome } from "./setup.ts";

/** The outcome as a short table for people, with the command that would complete it. */
export function setupTable({ findings, advice, failure }: SetupOutcome): string {
  const marks = { found: "✓", installed: "+", missing: "–" };
  const rows = findings.map(({ program, state, path }) => {
    const detail = state === "missing" ? `missing: ${program.without}` : `${state} ${path}`;
    return `  ${marks[state]} ${program.name.padEnd(12)} ${detail}`;
  });
  const why = failure === undefined ? [] : [`  apt-get failed: ${failure.split("\n").at(-1)}`];
  const how = advice === undefined ? [] : [`  To add what is missing: ${advice}`];
  return [...rows, ...why, ...how].join("\n");
}

/** Whether somebody who asked for something else should be told: something changed, or a thing that is always wanted is missing. */
export function isWorthTelling({ findings, failure }: SetupOutcome): boolean {
  const notable = findings.some(
    ({ program, state }) => state === "installed" || (state === "missing" && !program.onRequest),
  );
  return notable || failure !== undefined;
}
