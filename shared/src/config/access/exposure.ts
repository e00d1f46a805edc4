import { isLoopback } from "../../http/loopback-guard.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

/**
 * Throws `config_invalid` if other machines could reach a server without authentication, which is a
 * token or client certificates: directly, or through its public address.
 */
export function checkExposure(settings: Settings): void {
  const { server, gateway, agents } = settings.sections;
  if (server.token !== undefined || server.tls.client_ca !== undefined) return;
  const check = (path: readonly string[], value: string, host: string, otherwise: string) => {
    if (isLoopback(host)) return;
    const why = `${path.join(".")} is ${value}, which other machines can reach, but no token is set. Set MANYHANDS_TOKEN (or [server] token), or ${otherwise}.`;
    throw faultAt(settings, path, why);
  };
  check(["server", "host"], server.host, server.host, "HOST=127.0.0.1");
  const addresses = [
    [["server", "public_url"], server.public_url],
    [["gateway", "public_url"], gateway.public_url],
    ...Object.entries(agents).map(([name, agent]) => [["agents", name, "public_url"], agent.public_url] as const),
  ] as const;
  for (const [path, url] of addresses)
    if (url !== undefined) check(path, url, new URL(url).hostname, "no such address");
}
