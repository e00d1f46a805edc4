import { browserDownloadCommand } from "./browser-download.ts";
import type { SetupOutcome } from "./setup.ts";

/** The outcome as a short table for people, with the command that would complete it. */
export function setupTable({ findings, advice, failure }: SetupOutcome): string {
  const marks = { found: "✓", installed: "+", missing: "–" };
  const rows = findings.map(({ program, state, path }) => {
    const detail = state === "missing" ? `missing: ${program.without}` : `${state} ${path}`;
    return `  ${marks[state]} ${program.name.padEnd(12)} ${detail}`;
  });
  const why = failure === undefined ? [] : [`  Installing failed: ${failure.split("\n").at(-1)}`];
  const how = advice === undefined ? [] : [`  To add what is missing: ${advice}`];
  const noBrowser = findings.some(({ program, state }) => program.name === "chromium" && state === "missing");
  const orElse = noBrowser ? [`  A browser for yourself alone: ${browserDownloadCommand}`] : [];
  return [...rows, ...why, ...how, ...orElse].join("\n");
}

/**
 * Whether somebody who asked for something else should be told: something changed, or a thing is
 * missing.
 */
export function isWorthTelling({ findings, failure }: SetupOutcome): boolean {
  return findings.some(({ state }) => state !== "found") || failure !== undefined;
}
