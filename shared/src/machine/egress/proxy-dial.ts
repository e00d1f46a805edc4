import { connect, isIP, type Socket } from "node:net";
import * as tls from "node:tls";
import { AppError } from "../../core/errors.ts";
import { type Resolve, resolveChecked } from "./connect-directly.ts";
import { admitUrl, type EgressPolicy } from "./policy.ts";
import type { Upstream } from "./proxy-upstream.ts";

/** How targets are reached. */
export type DialDeps = {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  readonly upstream: Upstream | undefined;
  readonly connectMs: number;
};

/**
 * The URL, when the policy lets it through and its port is one that the web uses: 80, 443, or any from 1024 on. A host that is allowed with its port
 * may have any. Throws as `admitUrl` does.
 */
export function admitTarget(text: string, policy: EgressPolicy): URL {
  const url = admitUrl(text, policy);
  const port = Number(url.port);
  if (url.port === "" || port >= 1024 || port === 80 || port === 443 || policy.allow.includes(url.host)) return url;
  throw new AppError("forbidden", `Port ${port} of ${url.hostname} is not one of the web, so it is not reached.`);
}

/**
 * The addresses to connect to for an admitted URL, all of them checked. Empty when an upstream proxy is to resolve a name that this machine cannot.
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

/** A connection to the upstream proxy itself. Its address is the operator's word and not asked of the policy. */
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
