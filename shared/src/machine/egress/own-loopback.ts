import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "../../core/errors.ts";
import { covers, type EgressPolicy } from "./policy.ts";

/**
 * Connects to a port of the loopback that belongs to one user of a proxy, such as that of the
 * sandbox in which the user's commands run. Never this machine's.
 */
export type DialOwn = (port: number) => Promise<Socket>;

/** The port of the egress proxy for commands with a network of their own. */
const proxyPort = 3128;

/**
 * The port that an address means on the user's own loopback; undefined if the address is another
 * host's, or one of this machine's that the policy allows. Throws `forbidden` if the policy denies
 * it, or the port is not one of the web.
 */
export function ownPort(url: URL, policy: EgressPolicy): number | undefined {
  if (!isLoopbackName(url.hostname) || policy.allow.some((entry) => covers(entry, url))) return undefined;
  if (policy.deny.some((entry) => covers(entry, url)))
    throw new AppError("forbidden", `The host ${url.host} is on the deny list.`);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if ((port < 1024 && port !== 80) || port === proxyPort)
    throw new AppError("forbidden", `Port ${port} of ${url.hostname} is not a web port, so it is not reached.`);
  return port;
}

/** Whether a policy leaves all loopback addresses to the user's own. */
export function leavesLoopback({ allow, deny }: EgressPolicy): boolean {
  const entries = [...allow, ...deny];
  return !entries.some((entry) => isLoopbackName(entry.replace(/^\*\./, "").replace(/:\d+$/, "")));
}

/** The names of a loopback, as entries of a policy. */
export const loopbackNames: readonly string[] = ["localhost", "*.localhost", "127.0.0.1", "[::1]"];

function isLoopbackName(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.0\.0\.1|\[::1\])$/i.test(hostname);
}

/**
 * Throws `forbidden` for a request that a page of another site makes: what runs on a developer's
 * own loopback trusts whoever reaches it, so only its own pages do, and addresses that the browser
 * was told to open.
 */
export function admitRequester(headers: IncomingHttpHeaders): void {
  const site = headers["sec-fetch-site"];
  if (site === "none" || site === "same-origin" || site === "same-site") return;
  const from = headers.origin ?? headers.referer;
  if (from === undefined ? site === undefined : isLoopbackUrl(from)) return;
  throw new AppError("forbidden", "Pages of other sites do not reach servers on the loopback.");
}

/**
 * The same for the first request of a tunnel, which is a WebSocket's: its origin is always said.
 */
export function admitTunnelHead(head: string): void {
  const origin = /\r\norigin:\s*(\S+)/i.exec(head)?.[1];
  if (!/^GET \S+ HTTP\/1\.1\r\n/.test(head) || origin === undefined || !isLoopbackUrl(origin))
    throw new AppError("forbidden", "Only WebSockets of pages on the loopback are let through to it.");
}

function isLoopbackUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === "http:" && isLoopbackName(url.hostname);
}
