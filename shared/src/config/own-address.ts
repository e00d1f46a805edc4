import { isIP } from "node:net";

/** Where a server of this system is reached from here, by where it listens. */
export function ownAddress({ host, tls }: { readonly host: string; readonly tls: boolean }, port: number): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${tls ? "https" : "http"}://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}
