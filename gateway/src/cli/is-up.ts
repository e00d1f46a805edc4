import { agentNamed, type Config } from "manyhands/internal/config/config";
import { isLoopback } from "manyhands/internal/http/loopback-guard";

/** Whether a server that can take work answers there. */
export async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1500) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Whether no server answers where the settings say the agent is, and one of ours could: an agent of another machine is for that to start. */
export async function isNowhere(name: string, config: Config): Promise<boolean> {
  const { entry, url } = agentNamed(config, name);
  return entry !== undefined && isLoopback(new URL(url).hostname) && !(await isUp(url));
}
