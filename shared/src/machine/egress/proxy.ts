import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { AppError } from "../../core/errors.ts";
import { createOwnForwarding, type OwnForwarding } from "./forward-own.ts";
import { admitRequester, type DialOwn, ownPort } from "./own-loopback.ts";
import type { EgressPolicy } from "./policy.ts";
import { createProxyAccess, type ProxyUser, type TellRequest, type Visitor } from "./proxy-access.ts";
import { addressesOf, admitTarget, type DialDeps, parseUpstream, type UpstreamProxy } from "./proxy-dial.ts";
import { forwardRequest } from "./proxy-forward.ts";
import { proxyGreeting } from "./proxy-names.ts";
import { closeWithPage, failureAnswer, needsCredentials, sendPage } from "./proxy-page.ts";
import { dialTunnel, joinTunnel, tunnelTarget } from "./proxy-tunnel.ts";
import { type Resolve, resolveBySystem } from "./resolve.ts";

/** Bounds of the traffic, each for one connection; `connections` is for one user. */
export type ProxyLimits = {
  readonly connections: number;
  /** Bytes of one response, or of everything that comes back through one tunnel. */
  readonly answerBytes: number;
  readonly connectMs: number;
  /** How long a connection may be silent. */
  readonly idleMs: number;
};

const defaultLimits: ProxyLimits = { connections: 128, answerBytes: 512_000_000, connectMs: 15_000, idleMs: 300_000 };

/** Where the proxy lets its users go, and how. */
export type ProxyOptions = {
  readonly policy: EgressPolicy;
  /** A proxy to which everything is forwarded. */
  readonly upstream?: UpstreamProxy | undefined;
  /** The system's by default. */
  readonly resolve?: Resolve | undefined;
  readonly limits?: Partial<ProxyLimits>;
  /** The Unix socket to listen on instead of a port. */
  readonly socket?: string;
  /** Called with requests that lack the right credentials. */
  readonly onStranger?: TellRequest;
};

/**
 * A forward proxy on loopback for programs that make their own connections, such as a browser. The
 * policy is checked for each request, tunnel and redirect separately, on the address that is then
 * connected to.
 */
export interface EgressProxy {
  /** `http://127.0.0.1:PORT`, without credentials; the path of the socket if it listens on one. */
  readonly url: string;
  /**
   * Admits one more user, with a new name and password; `tell` is called with each of its requests.
   * `own` connects to the loopback that is the user's own; without it, a loopback is this
   * machine's.
   */
  admit(tell: TellRequest, own?: DialOwn): ProxyUser;
  /** Ends every connection. */
  close(): Promise<void>;
}

type Handling = DialDeps & ProxyLimits & { readonly forwarding: OwnForwarding };

/**
 * Listens on a free port of 127.0.0.1, or on a Unix socket. Rejects with `config_invalid` if the
 * upstream is not an HTTP proxy.
 */
export async function startEgressProxy(options: ProxyOptions): Promise<EgressProxy> {
  const limits = { ...defaultLimits, ...options.limits };
  const forwarding = createOwnForwarding(limits);
  const handling: Handling = {
    ...limits,
    forwarding,
    policy: options.policy,
    resolve: options.resolve ?? resolveBySystem,
    upstream: options.upstream === undefined ? undefined : parseUpstream(options.upstream),
  };
  const access = createProxyAccess(handling.connections);
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: handling.idleMs });
  const visitorOf = ({ headers, method = "", url = "" }: IncomingMessage) => {
    const visitor = access.visitor(headers["proxy-authorization"]);
    if (visitor === undefined) options.onStranger?.({ method, target: url, refused: needsCredentials.text });
    return visitor;
  };
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const visitor = visitorOf(request);
    if (visitor === undefined) sendPage(response, needsCredentials);
    else void handleRequest(request, response, visitor, handling);
  });
  server.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const visitor = visitorOf(request);
    if (visitor === undefined) closeWithPage(socket, needsCredentials);
    else void handleTunnel(request, socket, head, visitor, handling);
  });
  const { socket } = options;
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    if (socket === undefined) server.listen(0, "127.0.0.1", done);
    else server.listen(socket, done);
  });
  return {
    url: socket ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    admit: access.admit,
    async close() {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await closed;
      await forwarding.close();
    },
  };
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  visitor: Visitor,
  handling: Handling,
): Promise<void> {
  const { method = "GET", url: target = "" } = request;
  if (target === proxyGreeting) return sendPage(response, { status: 200, text: "" });
  const tell = (refused?: string) => visitor.tell({ method, target, refused });
  try {
    visitor.hold(request.socket);
    const own = ownWay(target, visitor, handling);
    if (own !== undefined) {
      admitRequester(request.headers);
      tell();
      const exchange = { request, response, url: new URL(target) };
      if ((await handling.forwarding.request(exchange, own)) === "cut") tell(cutOff(handling));
      return;
    }
    const url = admitTarget(target, handling.policy);
    if (url.protocol !== "http:") throw new AppError("invalid_input", "Anything but http must go through a tunnel.");
    const addresses = await addressesOf(url, handling);
    tell();
    if ((await forwardRequest(request, response, url, { addresses }, handling)) === "cut") tell(cutOff(handling));
  } catch (error) {
    const answer = failureAnswer(error);
    if (answer.status === 403) tell(answer.text);
    sendPage(response, answer);
  }
}

async function handleTunnel(
  { url: target = "" }: IncomingMessage,
  client: Socket,
  head: Buffer,
  visitor: Visitor,
  handling: Handling,
): Promise<void> {
  const tell = (refused?: string) => visitor.tell({ method: "CONNECT", target, refused });
  try {
    visitor.hold(client);
    const own = ownWay(`https://${target}`, visitor, handling);
    if (own !== undefined) {
      tell();
      if ((await handling.forwarding.tunnel(client, head, own)) === "cut") tell(cutOff(handling));
      return;
    }
    const url = tunnelTarget(target, handling.policy);
    const addresses = await addressesOf(url, handling);
    tell();
    const socket = await dialTunnel(url, addresses, handling);
    if ((await joinTunnel(client, head, socket, handling)) === "cut") tell(cutOff(handling));
  } catch (error) {
    const answer = failureAnswer(error);
    if (answer.status === 403) tell(answer.text);
    closeWithPage(client, answer);
  }
}

/** Connects to the port of the user's own loopback that is meant; undefined if none is. */
function ownWay(target: string, { own }: Visitor, { policy }: Handling): (() => Promise<Socket>) | undefined {
  const url = own && URL.parse(target);
  const port = url ? ownPort(url, policy) : undefined;
  return own && port !== undefined ? () => own(port) : undefined;
}

function cutOff({ answerBytes }: ProxyLimits): string {
  return `The answer was cut off after ${Math.round(answerBytes / 10_000) / 100} MB.`;
}
