import { A2A_VERSION_HEADER } from "@a2a-js/sdk";
import { isV1JsonRpcMethod } from "@a2a-js/sdk/compat/v0_3";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";

/** The protocol versions served; patch numbers are ignored (A2A 1.0 section 3.6). */
export type ProtocolVersion = "1.0" | "0.3";

/**
 * The version a request asks for, by header or else by query parameter. A request without one means
 * 0.3, unless it is a JSON-RPC call of a method that only 1.0 has. Throws VersionNotSupportedError.
 */
export function requestedVersion(request: Request, method?: string): ProtocolVersion {
  const { named, version } = namedVersion(request);
  if (!named) return method !== undefined && isV1JsonRpcMethod(method) ? "1.0" : "0.3";
  if (version === "1.0" || version === "0.3") return version;
  throw new VersionNotSupportedError(`A2A version ${named.slice(0, 32)} is not supported; 1.0 and 0.3 are`);
}

function namedVersion(request: Request) {
  const asked = () => new URL(request.url).searchParams.getAll(A2A_VERSION_HEADER).join(", ");
  const named = request.headers.get(A2A_VERSION_HEADER) || asked();
  return { named, version: /^\s*(\d+\.\d+)(?:\.\d+)?\s*$/.exec(named)?.[1] };
}

/**
 * Rejects every version but 1.0, the only one that HTTP+JSON and gRPC serve. Throws
 * VersionNotSupportedError.
 */
export function requireVersionOne(request: Request): void {
  if (namedVersion(request).version === "1.0") return;
  throw new VersionNotSupportedError(
    `This binding is served in version 1.0 only: send the header ${A2A_VERSION_HEADER}: 1.0`,
  );
}
