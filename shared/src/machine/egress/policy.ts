import { isIP } from "node:net";
import { AppError } from "../../core/errors.ts";
import { isPublicAddress } from "./public-address.ts";

/**
 * Where requests may go. Hosts are written as in a URL, with or without `:port`; `deny` and `only`
 * also accept `*.example.com`, which covers `example.com` and all names below it.
 */
export type EgressPolicy = {
  /** Hosts, each by its own name, that may be reached although their address is not public. */
  readonly allow: readonly string[];
  /** Hosts that are never reached. */
  readonly deny: readonly string[];
  /** When not empty, the only hosts that are reached. */
  readonly only: readonly string[];
};

/**
 * Parses a URL and checks everything that its text shows: http or https, no user or password in it,
 * a host that the lists allow and, if the host is an address, a public one. Throws `invalid_input`
 * or `forbidden` otherwise.
 */
export function admitUrl(text: string | URL, policy: EgressPolicy): URL {
  const url = URL.parse(String(text));
  if (url === null) throw new AppError("invalid_input", `${JSON.stringify(String(text))} is not a URL.`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new AppError("forbidden", `Only http and https URLs can be fetched, not ${url.protocol.slice(0, -1)}.`);
  if (url.username !== "" || url.password !== "")
    throw new AppError("forbidden", `The URL to ${url.host} has a user or password in it, which is not allowed.`);
  if (policy.deny.some((entry) => covers(entry, url)))
    throw new AppError(
      "forbidden",
      `The host ${url.host} is on the deny list of this system's settings (egress.deny).`,
    );
  if (policy.only.length > 0 && !policy.only.some((entry) => covers(entry, url)))
    throw new AppError(
      "forbidden",
      `The host ${url.host} is not on the list of hosts that this system's settings let it reach (egress.only).`,
    );
  const literal = bare(url.hostname);
  if (isIP(literal) !== 0) admitAddresses(url, [literal], policy);
  // These names mean this machine by definition (RFC 6761), whatever a resolver or a proxy returns
  // for them.
  if (/(?:^|\.)localhost\.?$/.test(literal)) admitAddresses(url, ["127.0.0.1"], policy);
  return url;
}

/**
 * Throws `forbidden` unless every address of the URL's host is public, or the host is allowed by
 * its name.
 */
export function admitAddresses(url: URL, addresses: readonly string[], policy: EgressPolicy): void {
  if (policy.allow.some((entry) => covers(entry, url))) return;
  if (!addresses.every(isPublicAddress))
    throw new AppError(
      "forbidden",
      `The host ${url.host} is at an address that is not public (private, loopback, link-local or reserved), so this system does not reach it. Who runs the system can name it in the settings: egress.allow = ["${url.host}"].`,
    );
}

/** Whether an entry of a list of hosts (`host`, `host:port`, `*.host`) covers this URL. */
export function covers(entry: string, url: URL): boolean {
  const [, pattern = "", port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  const host = url.hostname.replace(/\.$/, "");
  if (!pattern.startsWith("*.")) return host === pattern.replace(/\.$/, "");
  return host === pattern.slice(2) || host.endsWith(pattern.slice(1));
}

/** A host without the brackets of an IPv6 address. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
