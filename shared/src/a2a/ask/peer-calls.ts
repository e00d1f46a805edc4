import type { PeerCall } from "../../core/events/ask-outcome.ts";
import type { ReadEvent } from "../../core/events/events.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";

/**
 * What one step saw of a call that a task at an agent of ours made: that it began, that it ended,
 * or both.
 */
export type SeenCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments?: string;
  readonly ended?: { readonly isError: boolean; readonly result: string };
};

const longestArguments = 240;
/** A longer result is cut to its beginning and end: a command's outcome is in its last lines. */
const longestResult = 400;
const resultStart = 200;
/** Most calls that are kept of a task: the first and the last of them. */
const keptFirst = 20;
const keptLast = 40;

/** What an event says of a call; undefined for other events. */
export function seenCall(event: ReadEvent): SeenCall | undefined {
  if (event.type === "tool-started") {
    const { callId: id, name } = event;
    return { id, name, arguments: sanitizeLine(event.arguments, longestArguments) };
  }
  if (event.type !== "tool-ended") return undefined;
  const { callId: id, name, isError, text } = event;
  return { id, name, ended: { isError, result: resultLine(text) } };
}

function resultLine(text: string): string {
  const line = sanitizeLine(text, text.length);
  if (line.length <= longestResult) return line;
  const end = line.slice(resultStart + 1 - longestResult).toWellFormed();
  return `${sanitizeLine(line, resultStart)} ${end}`;
}

/** The calls of a task so far. */
export type PeerCalls = { readonly made: readonly (PeerCall & { readonly id: string })[]; readonly count: number };

/** No call yet. */
export const noCalls: PeerCalls = { made: [], count: 0 };

/** The calls so far, with what one more step has seen. */
export function withSeen(calls: PeerCalls, seen: readonly SeenCall[] = []): PeerCalls {
  if (seen.length === 0) return calls;
  const byId = new Map(calls.made.map((call) => [call.id, call]));
  let { count } = calls;
  for (const { id, name, arguments: said, ended } of seen) {
    const known = byId.get(id);
    // Left out in the meantime.
    if (known === undefined && said === undefined) continue;
    if (known === undefined) count++;
    const { arguments: given, outcome, result } = known ?? { arguments: said ?? "", outcome: "open", result: "" };
    const end = ended && { outcome: ended.isError ? ("failed" as const) : ("done" as const), result: ended.result };
    byId.set(id, { id, name, arguments: given, ...(end ?? { outcome: outcome as PeerCall["outcome"], result }) });
  }
  const all = [...byId.values()];
  const isLong = all.length > keptFirst + keptLast;
  return { made: isLong ? [...all.slice(0, keptFirst), ...all.slice(-keptLast)] : all, count };
}

/** The calls as an outcome has them. */
export function madeCalls({ made, count }: PeerCalls): { readonly calls: readonly PeerCall[]; readonly count: number } {
  return { calls: made.map(({ id: _, ...call }) => call), count };
}
