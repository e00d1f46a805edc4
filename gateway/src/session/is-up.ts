import { agentNamed, type Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { isLoopback } from "manyhands/internal/http/loopback-guard";

/** A busy server is up: taking it for none would start a second one beside it. */
const patienceMs = 15_000;

/**
 * Whether a server that can take work answers there: at once when nobody listens, and as late as a
 * busy one needs. Rejects with `unavailable` when one takes the connection and is silent for 15 s.
 */
export async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    await response.body?.cancel();
    return response.ok;
  } catch (error) {
    if (!(error instanceof Error && error.name === "TimeoutError")) return false;
    const found = `What listens at ${url} has not answered for ${patienceMs / 1000} s`;
    throw new AppError("unavailable", `${found}. Wait, or end it and try again.`, { cause: error });
  }
}

/**
 * Whether no server answers where the settings say the agent is, and one of ours could: an agent of
 * another machine is for that to start.
 */
export async function isNowhere(name: string, config: Config): Promise<boolean> {
  const { entry, url } = agentNamed(config, name);
  return entry !== undefined && isLoopback(new URL(url).hostname) && !(await isUp(url));
}
