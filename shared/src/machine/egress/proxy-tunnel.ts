import type { Socket } from "node:net";
import { AppError } from "../../core/errors.ts";
import { admitTarget, type DialDeps, dialFirst, dialUpstream } from "./proxy-dial.ts";
import { readHead } from "./proxy-head.ts";
import { relay } from "./proxy-relay.ts";

/** The admitted URL for the `host:port` of a CONNECT. Throws as `admitTarget` does. */
export function tunnelTarget(authority: string, policy: DialDeps["policy"]): URL {
  // The scheme is unknown, but it would only decide the default port, and the port is always given.
  if (!/^(?:\[[\da-f:.]+\]|[^\s/:@?#]+):\d{1,5}$/i.test(authority))
    throw new AppError("invalid_input", `${JSON.stringify(authority.slice(0, 200))} is not a host and port.`);
  return admitTarget(`https://${authority}`, policy);
}

/**
 * Connects to an admitted target at one of its addresses. Rejects with `timeout` or `unavailable`.
 */
export async function dialTunnel(url: URL, addresses: readonly string[], deps: DialDeps): Promise<Socket> {
  const port = Number(url.port || 443);
  if (deps.upstream === undefined) return await dialFirst(addresses, port, deps.connectMs);
  const socket = await dialUpstream(deps.upstream, deps.connectMs);
  try {
    await askForTunnel(socket, `${url.hostname}:${port}`, deps.upstream.authorization, deps.connectMs);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Joins a client's connection to the target's; resolves when either has ended. */
export async function joinTunnel(
  client: Socket,
  head: Buffer,
  target: Socket,
  bounds: { readonly answerBytes: number; readonly idleMs: number },
): Promise<"ended" | "cut"> {
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (head.length > 0) target.write(head);
  return await relay(client, target, bounds);
}

async function askForTunnel(
  socket: Socket,
  authority: string,
  authorization: string | undefined,
  timeoutMs: number,
): Promise<void> {
  const credentials = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`);
  const { head, rest } = await readHead(socket, timeoutMs);
  // Put back in front of what is still to come, once there is no listener: a listener would receive
  // the bytes again, and put them back again.
  if (rest.length > 0) socket.unshift(rest);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
  if (status < 200 || status > 299)
    throw new AppError("unavailable", `The proxy on the way answered ${status} for ${authority}.`);
}
