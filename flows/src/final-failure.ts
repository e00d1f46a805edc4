import type { ErrorCode } from "@manyhands/shared/errors";
import type { AskOutcome } from "@manyhands/shared/peers/outcome";

const codes: readonly ErrorCode[] = ["hop_limit", "unauthorized", "forbidden", "rejected", "unsupported", "too_large"];

/** Whether the same ask would fail the same way the next time. */
export function isFinal({ state, error }: Pick<AskOutcome, "state" | "error">): boolean {
  return state !== "completed" && error !== undefined && codes.includes(error.code);
}
