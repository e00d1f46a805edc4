import { AppError } from "manyhands/internal/core/errors";

const longestSeconds = 300;

/**
 * Milliseconds that `Prefer: wait=SECONDS` (RFC 7240 section 4.3) asks to wait, at most five
 * minutes; undefined when it asks nothing. Throws `invalid_input` for anything but a whole number
 * of seconds.
 */
export function preferredWait(header: string | undefined): number | undefined {
  const asked = header?.split(/[,;]/).map((preference) => /^\s*wait\s*=\s*"?([^"\s]*)"?\s*$/i.exec(preference)?.[1]);
  const text = asked?.find((one) => one !== undefined);
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) throw new AppError("invalid_input", "Prefer: wait takes a whole number of seconds.");
  return Math.min(Number(text), longestSeconds) * 1000;
}

/** A signal for waiting that long, or until the caller goes. */
export function waitSignal(milliseconds: number, gone: AbortSignal): AbortSignal {
  return AbortSignal.any([gone, AbortSignal.timeout(milliseconds)]);
}
