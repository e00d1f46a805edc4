import type { Fetch } from "manyhands/internal/a2a/client/client-fetch";
import { AppError } from "manyhands/internal/core/errors";

/**
 * A request to a server, which `through` may have credentials for. Rejects with `unavailable` when
 * none answers there, or not by a deadline in its signal, and with any other reason of the signal.
 */
export async function fetchServer(
  url: string,
  init: RequestInit & { readonly signal: AbortSignal },
  through: Fetch = fetch,
): Promise<Response> {
  try {
    return await through(url, init);
  } catch (error) {
    throw failureAt(url, error, init.signal);
  }
}

/** What is read of a server's answer. Rejects as `fetchServer` does. */
export async function readOf<Body>(
  { url }: Pick<Response, "url">,
  signal: AbortSignal,
  read: () => Promise<Body>,
): Promise<Body> {
  try {
    return await read();
  } catch (error) {
    throw failureAt(url, error, signal);
  }
}

function failureAt(url: string, error: unknown, signal: AbortSignal): unknown {
  const isLate = error instanceof Error && error.name === "TimeoutError";
  if (signal.aborted && !isLate) return error;
  const why = isLate ? "did not answer in time" : "cannot be reached";
  return new AppError("unavailable", `${new URL(url).origin} ${why}.`, { cause: error });
}
