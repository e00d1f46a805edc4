import { browserDownloadCommand } from "./browser-download.ts";
import type { SetupOutcome } from "./setup.ts";

/** The outcome as a short table, with the command that installs what is missing. */
export function setupTable({ findings, advice, failure }: SetupOutcome): string {
  const marks = { found: "✓", installed: "+", missing: "–" };
  const rows = findings.map(({ program, state, path }) => {
    const detail = state === "missing" ? `missing: ${program.without}` : `${state} ${path}`;
    return `  ${marks[state]} ${program.name.padEnd(12)} ${detail}`;
  });
  const why = failure === undefined ? [] : [`  Installing failed: ${failure.split("\n").at(-1)}`];
  const how = advice === undefined ? [] : [`  To install what is missing: ${advice}`];
  const noBrowser = findings.some(({ program, state }) => program.name === "chromium" && state === "missing");
  const orElse = noBrowser ? [`  Or, for the browser alone: ${browserDownloadCommand}`] : [];
  return [...rows, ...why, ...how, ...orElse].join("\n");
}

/**
 * Whether to show the outcome when set-up ran before another command: something was installed, is
 * missing or failed.
 */
export function isWorthTelling({ findings, failure }: SetupOutcome): boolean {
  return findings.some(({ state }) => state !== "found") || failure !== undefined;
}
