import type { Metadata, ServerUnaryCall } from "@grpc/grpc-js";
import type { Identify } from "../../../core/caller.ts";
import type { ConnectionEnd } from "../../../http/socket-owner.ts";
import { requireVersionOne } from "../../version.ts";
import { type HttpCall, httpCall } from "../call-context.ts";

/** A call as it comes: its request is decoded only for a caller who is known. */
export type GrpcCall = Pick<
  ServerUnaryCall<Uint8Array, unknown>,
  "request" | "metadata" | "cancelled" | "getPeer" | "getPath"
> & {
  once(event: "cancelled", listener: () => void): unknown;
};

/**
 * What the call says beside its request. Its metadata have the names that HTTP's headers have and
 * are read as those are: version, extensions, credentials, the last event a resuming reader has.
 */
export async function beginCall(call: GrpcCall, identify: Identify): Promise<HttpCall> {
  const gone = new AbortController();
  // The client cancelled or went, or its deadline has passed.
  call.once("cancelled", () => gone.abort());
  if (call.cancelled) gone.abort();
  const about = { method: "POST", headers: headersOf(call.metadata), signal: gone.signal };
  const request = new Request(`http://grpc.invalid${call.getPath()}`, about);
  const caller = await identify(request);
  requireVersionOne(request);
  return httpCall(request, caller, "1.0");
}

function headersOf(metadata: Metadata): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(metadata.toJSON())) {
    for (const value of values)
      if (typeof value === "string" && /^[\x20-\x7e]*$/.test(value)) headers.append(name, value);
  }
  return headers;
}

/** The client's end of the connection, from `address:port`; undefined if it is gone. */
export function clientEnd(call: GrpcCall): ConnectionEnd | undefined {
  const [, address, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(call.getPeer()) ?? [];
  return address === undefined ? undefined : { address, port: Number(port) };
}
