import type { AskOutcome } from "manyhands/flows";

/** Characters of a command that a record, which is shortened, surely has. */
const longestCompared = 100;

const reported = "The command was reported to have ended with exit code 0, but the record has no";

/**
 * What the record of an agent's calls says against its report that a command ended with exit code
 * 0; undefined if nothing does. The report may be mistaken or made up.
 */
export function recordAgainst(command: string, made: AskOutcome["made"]): string | undefined {
  if (made === undefined) return undefined;
  if (made.count === 0) return `${reported} call that ran it: ${command}`;
  const wanted = plain(command).slice(0, longestCompared);
  const ran = made.calls.findLast((call) => plain(call.arguments).includes(wanted));
  if (ran === undefined || ran.outcome === "done") return undefined;
  if (ran.outcome === "open") return `${reported} result of it: ${command}`;
  const [, exitCode] = /exit code (\d+)[^\]]*\]$/.exec(ran.result) ?? [];
  const how = exitCode === undefined ? "failed" : `ended with exit code ${exitCode}`;
  return `The command ${how}, by the record, and not with exit code 0, as was reported: ${command}\n${ran.result}`;
}

/** What a command and the JSON of a call that runs it have in common. */
function plain(text: string): string {
  return text.replaceAll(/\\[nrt]|[\\"'\s]/g, "");
}
