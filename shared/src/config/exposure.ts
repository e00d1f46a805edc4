import { isIP } from "node:net";
import { AppError } from "../errors.ts";

/** Whether only this machine can reach an address. */
function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "localhost" || host === "::1" || host === "[::1]";
}

/** Throws `config_invalid` when other machines could reach a server that asks nobody who they are. */
export function checkExposure(server: { readonly host: string; readonly token?: string | undefined }): void {
  if (isLoopback(server.host) || server.token !== undefined) return;
  throw new AppError(
    "config_invalid",
    `HOST is ${server.host}, which other machines can reach, but no token is set. Set MANYHANDS_TOKEN (or [server] token), or HOST=127.0.0.1.`,
  );
}
