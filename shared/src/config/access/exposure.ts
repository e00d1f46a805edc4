import { AppError } from "../../core/errors.ts";
import { isLoopback } from "../../http/loopback-guard.ts";
import type { Sections } from "../sections/sections.ts";

/**
 * Throws `config_invalid` if other machines could reach a server without authentication, which is a
 * token or client certificates: directly, or through its public address.
 */
export function checkExposure({ server, gateway, agents }: Pick<Sections, "server" | "gateway" | "agents">): void {
  if (server.token !== undefined || server.tls.client_ca !== undefined) return;
  if (!isLoopback(server.host)) throw exposed(`HOST is ${server.host}`, "HOST=127.0.0.1");
  const addresses = {
    "server.public_url": server.public_url,
    "gateway.public_url": gateway.public_url,
    ...Object.fromEntries(
      Object.entries(agents).map(([name, agent]) => [`agents.${name}.public_url`, agent.public_url]),
    ),
  };
  for (const [key, url] of Object.entries(addresses))
    if (url !== undefined && !isLoopback(new URL(url).hostname)) throw exposed(`${key} is ${url}`, "no such address");
}

function exposed(what: string, otherwise: string): AppError {
  return new AppError(
    "config_invalid",
    `${what}, which other machines can reach, but no token is set. Set MANYHANDS_TOKEN (or [server] token), or ${otherwise}.`,
  );
}
