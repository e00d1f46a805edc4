import type { AskOutcome } from "../core/ask-outcome.ts";
import type { ErrorCode } from "../core/errors.ts";

const codes: readonly ErrorCode[] = ["hop_limit", "unauthorized", "forbidden", "rejected", "unsupported", "too_large"];

/** What an agent that cannot be reached, or takes nothing, comes to once the patience for it is over. */
const away: readonly ErrorCode[] = ["unavailable", "storage_unavailable"];

/** Whether this says that the agent was away for as long as it was waited for. */
export function wasAway(code: ErrorCode): boolean {
  return away.includes(code);
}

/** Whether the same ask would fail the same way the next time, or would only be waited for once more. */
export function isFinal({ state, error }: Pick<AskOutcome, "state" | "error">): boolean {
  return state !== "completed" && error !== undefined && (codes.includes(error.code) || wasAway(error.code));
}
