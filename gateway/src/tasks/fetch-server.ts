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
    const isLate = error instanceof Error && error.name === "TimeoutError";
    if (init.signal.aborted && !isLate) throw error;
    const why = isLate ? "did not answer in time" : "cannot be reached";
    throw new AppError("unavailable", `${new URL(url).origin} ${why}.`, { cause: error });
  }
}
