import { authorizedFetch } from "manyhands/internal/a2a/client/credentials";
import { agentNamed, type Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { isLoopback } from "manyhands/internal/http/loopback-guard";

/** A busy server is up: otherwise a second one would be started beside it. */
const patienceMs = 15_000;

/**
 * Whether a healthy server answers there, ready or not. Returns at once when nobody listens, and
 * waits for a busy server. Rejects with `unavailable` when a server accepts the connection and is
 * silent for 15 s.
 */
export async function isUp(url: string, { server: { tls } }: Pick<Config, "server">): Promise<boolean> {
  const ask = authorizedFetch(fetch, tls && { tls: tls.client }, url);
  try {
    const response = await ask(`${url}/healthz`, { signal: AbortSignal.timeout(patienceMs) });
    await response.body?.cancel();
    return response.ok;
  } catch (error) {
    if (!(error instanceof Error && error.name === "TimeoutError")) return false;
    const found = `The server at ${url} has not answered for ${patienceMs / 1000} s`;
    throw new AppError("unavailable", `${found}. Wait, or stop it and try again.`, { cause: error });
  }
}

/**
 * Whether no server answers at the agent's configured address and we can start one: an agent of
 * another machine has to be started there.
 */
export async function isNowhere(name: string, config: Config): Promise<boolean> {
  const { entry, url } = agentNamed(config, name);
  return entry !== undefined && isLoopback(new URL(url).hostname) && !(await isUp(url, config));
}
