import { loopbackNames } from "../../http/loopback-guard.ts";

/** Whether two http(s) addresses are one server: one origin, where this machine's names for its loopback are one name. */
export function isSameServer(one: string | URL, other: string | URL): boolean {
  const server = serverOf(one);
  return server !== undefined && server === serverOf(other);
}

function serverOf(address: string | URL): string | undefined {
  const url = URL.parse(String(address));
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return undefined;
  if (loopbackNames.has(url.hostname)) url.hostname = "localhost";
  return url.origin;
}
