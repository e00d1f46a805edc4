import { isIP } from "node:net";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { AppError } from "../../../core/errors.ts";
import { longestBody } from "../../../http/request-body.ts";
import { type ConnectionGuard, ownAddress, type ServeOptions } from "../../../http/serve.ts";
import { AppFailure } from "../../wire-error.ts";
import { explainRefusals } from "./explain-refusals.ts";
import { clientEnd, type GrpcCall } from "./grpc-call.ts";
import { type GrpcServiceDeps, grpcService, serviceDefinition } from "./grpc-service.ts";

/** Where to listen, and what answers the calls. */
export type GrpcOptions = Omit<GrpcServiceDeps, "admit"> & {
  /** 0 takes any free port. */
  readonly port: number;
  readonly hostname: string;
  /** TLS as over HTTP. */
  readonly tls?: ServeOptions["tls"];
  /** If left out, every client is answered. */
  readonly guard?: ConnectionGuard | undefined;
  /** Milliseconds between two pings of a connection. */
  readonly heartbeatMs?: number;
  /** Milliseconds after which a connection that answers no ping is closed. */
  readonly answerMs?: number;
};

/** A listening gRPC server. */
export type GrpcServed = {
  /** The port it listens on. */
  readonly port: number;
  /**
   * Accepts nothing new, and resolves when the running calls have ended, those that have not in
   * `graceMs` being cut off.
   */
  stop(graceMs: number): Promise<void>;
};

/**
 * Calls of one connection at once; each takes memory before it is known whose it is. A client that
 * keeps to it makes the others wait.
 */
const callsAtOnce = 1_000;

/** Serves A2A 1.0 over gRPC. Rejects with `config_invalid` if it cannot listen. */
export async function serveGrpc(options: GrpcOptions): Promise<GrpcServed> {
  const { hostname, guard, heartbeatMs = 8_000, answerMs = 20_000 } = options;
  const server = new Server({
    "grpc.max_receive_message_length": longestBody,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": callsAtOnce,
    "grpc.keepalive_time_ms": heartbeatMs,
    "grpc.keepalive_timeout_ms": answerMs,
    interceptors: [explainRefusals],
  });
  const own = { port: options.port };
  const admit = (call: GrpcCall) => {
    if (guard !== undefined) refuseForeign(call, guard, hostname, own.port);
  };
  server.addService(serviceDefinition, grpcService({ ...options, admit }));
  own.port = await listening(server, options);
  return { port: own.port, stop: (graceMs) => stopped(server, graceMs) };
}

function listening(server: Server, { hostname, port, tls }: GrpcOptions): Promise<number> {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentialsOf(tls), (error, bound) => {
      if (error === null) return resolve(bound);
      const message = `gRPC cannot be served on ${host}:${port} (${error.message}).`;
      reject(new AppError("config_invalid", message, { cause: error }));
    });
  });
}

function credentialsOf(tls: ServeOptions["tls"]): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { cert, key, clientCa } = tls;
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  const authorities = clientCa === undefined ? null : Buffer.from(clientCa);
  return ServerCredentials.createSsl(authorities, [pair], clientCa !== undefined);
}

function stopped(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** A connection that is gone has no ends left to look at. */
function refuseForeign(call: GrpcCall, guard: ConnectionGuard, hostname: string, port: number): void {
  const client = clientEnd(call);
  if (client !== undefined && guard(client, { address: ownAddress(hostname, client.address), port }) === undefined)
    return;
  const message = "Without a token this server answers only the user it runs as, and root.";
  throw new AppFailure(new AppError("unauthorized", message));
}
