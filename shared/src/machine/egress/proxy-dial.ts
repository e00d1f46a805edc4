import { connect, isIP, type Socket } from "node:net";
import * as tls from "node:tls";
import { AppError } from "../../core/errors.ts";
import { admitUrl, type EgressPolicy } from "./policy.ts";
import { type Resolve, resolveChecked } from "./resolve.ts";

/**
 * The operator's own proxy, as configured: a URL with or without credentials, or with the
 * credentials given separately.
 */
export type UpstreamProxy = {
  readonly server: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
};

/** The parsed form. */
export type Upstream = { readonly url: URL; readonly authorization: string | undefined };

/** How targets are reached. */
export type DialDeps = {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  readonly upstream: Upstream | undefined;
  readonly connectMs: number;
};

/**
 * The URL, if the policy admits it and its port is one that the web uses: 80, 443, or any from 1024
 * on. A host that is allowed together with its port may use any port. Throws as `admitUrl` does.
 */
export function admitTarget(text: string, policy: EgressPolicy): URL {
  const url = admitUrl(text, policy);
  const port = Number(url.port);
  if (url.port === "" || port >= 1024 || port === 80 || port === 443 || policy.allow.includes(url.host)) return url;
  throw new AppError("forbidden", `Port ${port} of ${url.hostname} is not a web port, so it is not reached.`);
}

/**
 * The addresses to connect to for an admitted URL, all of them checked. Empty when an upstream
 * proxy must resolve a name that this machine cannot.
 */
export async function addressesOf(url: URL, deps: DialDeps): Promise<readonly string[]> {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0) return [literal];
  if (deps.upstream === undefined) return await resolveChecked(url, deps);
  return await resolveChecked(url, deps).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "unavailable") return [];
    throw error;
  });
}

/** A connection to the first address that answers. Rejects with `timeout` or `unavailable`. */
export async function dialFirst(addresses: readonly string[], port: number, connectMs: number): Promise<Socket> {
  const deadline = performance.now() + connectMs;
  let failure: unknown;
  for (const host of addresses)
    try {
      return await opened(connect({ host, port }), "connect", deadline);
    } catch (error) {
      failure = error;
    }
  throw failure ?? new AppError("unavailable", "There is no address to connect to.");
}

/** Throws `config_invalid` for anything but an HTTP proxy. `HOST:PORT` means an http one. */
export function parseUpstream({ server, username, password }: UpstreamProxy): Upstream {
  const url = URL.parse(server.includes("://") ? server : `http://${server}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new AppError(
      "config_invalid",
      `The proxy ${server} is not the address of an HTTP proxy (http:// or https://).`,
    );
  const user = username ?? decodeURIComponent(url.username);
  const secret = password ?? decodeURIComponent(url.password);
  const authorization =
    user === "" && secret === "" ? undefined : `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
  url.username = "";
  url.password = "";
  return { url, authorization };
}

/**
 * A connection to the upstream proxy itself. The operator chose its address, so the policy does not
 * apply to it.
 */
export function dialUpstream({ url }: Upstream, connectMs: number): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "https:";
  const port = Number(url.port || (secure ? 443 : 80));
  const deadline = performance.now() + connectMs;
  if (!secure) return opened(connect({ host, port }), "connect", deadline);
  return opened(tls.connect({ host, port, servername: isIP(host) === 0 ? host : "" }), "secureConnect", deadline);
}

function opened<S extends Socket>(socket: S, event: "connect" | "secureConnect", deadline: number): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new AppError("timeout", "The connection was not made in time.")),
      Math.max(0, deadline - performance.now()),
    );
    socket.once("error", (cause) => fail(new AppError("unavailable", `No connection: ${cause.message}`, { cause })));
    socket.once(event, () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}
