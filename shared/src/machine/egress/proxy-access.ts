import type { Socket } from "node:net";
import { AppError } from "../../core/errors.ts";
import { sameSecret } from "../../core/text/same-secret.ts";
import type { DialOwn } from "./own-loopback.ts";

/**
 * One request to the proxy: `target` is a URL, or `host:port` of a tunnel. `refused` is the reason
 * if it was refused.
 */
export type ProxiedRequest = { readonly method: string; readonly target: string; readonly refused: string | undefined };

/** Called with each request of a user; for an admitted one, before anything of it is sent on. */
export type TellRequest = (request: ProxiedRequest) => void;

/** The credentials of a user of the proxy, until they are revoked. */
export interface ProxyUser {
  readonly username: string;
  readonly password: string;
  /** Ends the user's connections and invalidates the credentials. */
  revoke(): void;
}

/** A user as the proxy sees it. */
export interface Visitor {
  readonly tell: TellRequest;
  readonly own: DialOwn | undefined;
  /** Counts a connection until it closes. Throws `rate_limited` when there are too many. */
  hold(socket: Socket): void;
}

/** Admits and recognizes the users of the proxy. */
export interface ProxyAccess {
  admit(tell: TellRequest, own?: DialOwn): ProxyUser;
  /** The user that this `Proxy-Authorization` authenticates. */
  visitor(authorization: string | undefined): Visitor | undefined;
}

type Entry = Visitor & { readonly password: string; readonly sockets: Set<Socket> };

/**
 * Identifies users by a random name and password; each may have `connections` connections at a
 * time.
 */
export function createProxyAccess(connections: number): ProxyAccess {
  const entries = new Map<string, Entry>();
  return {
    admit(tell, own) {
      const [username, password] = [crypto.randomUUID(), crypto.randomUUID()];
      const sockets = new Set<Socket>();
      entries.set(username, { tell, own, password, sockets, hold: (socket) => hold(socket, sockets, connections) });
      return {
        username,
        password,
        revoke() {
          entries.delete(username);
          for (const socket of sockets) socket.destroy();
        },
      };
    },
    visitor(authorization) {
      const encoded = /^Basic\s+(\S+)$/i.exec(authorization ?? "")?.[1];
      if (encoded === undefined) return undefined;
      const [username = "", password = ""] = Buffer.from(encoded, "base64").toString().split(":");
      const entry = entries.get(username);
      return entry !== undefined && sameSecret(password, entry.password) ? entry : undefined;
    },
  };
}

function hold(socket: Socket, sockets: Set<Socket>, most: number): void {
  if (sockets.has(socket)) return;
  if (sockets.size >= most)
    throw new AppError("rate_limited", `There are ${most} connections open already, which is the limit.`);
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}
