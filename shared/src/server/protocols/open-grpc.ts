import type { CardFacts } from "../../a2a/server/card.ts";
import type { GrpcOptions, GrpcServed } from "../../a2a/server/grpc/serve-grpc.ts";

/** A server's gRPC beside its HTTP. */
export type OpenGrpc = Pick<GrpcServed, "stop"> & {
  /** What a card says of it, for a server with this public address. */
  interfaceAt(publicUrl: string, tenant?: string): CardFacts["grpc"];
};

/**
 * Serves gRPC at the port; undefined for port 0. A server without it loads nothing for it. Rejects
 * with `config_invalid` if it cannot listen.
 */
export async function openGrpc(port: number, options: Omit<GrpcOptions, "port">): Promise<OpenGrpc | undefined> {
  if (port === 0) return undefined;
  const { serveGrpc } = await import("../../a2a/server/grpc/serve-grpc.ts");
  const served = await serveGrpc({ port, ...options });
  return {
    stop: served.stop,
    interfaceAt: (publicUrl, tenant = "") => ({ address: `${new URL(publicUrl).hostname}:${served.port}`, tenant }),
  };
}
