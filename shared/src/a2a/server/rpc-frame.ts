import type { StreamResponse } from "@a2a-js/sdk";
import { isObject } from "../../core/json.ts";
import { metadataKeys } from "../extensions.ts";

/** The journal's sequence number of an update. Progress has none. */
export function seqOf({ payload }: StreamResponse): number | undefined {
  return seqIn(payload?.value.metadata);
}

/** The same in a streamed result of 0.3. */
export function legacySeqOf(result: unknown): number | undefined {
  return isObject(result) ? seqIn(result.metadata) : undefined;
}

function seqIn(metadata: unknown): number | undefined {
  const seq = isObject(metadata) ? metadata[metadataKeys.seq] : undefined;
  return typeof seq === "number" ? seq : undefined;
}

/**
 * A streamed 0.3 result in which a question to the user ends the turn, as 0.3 specifies and the
 * SDK's translation omits.
 */
export function endLegacyTurn(result: unknown): unknown {
  if (!isObject(result) || result.kind !== "status-update" || !isObject(result.status)) return result;
  return result.status.state === "input-required" ? { ...result, final: true } : result;
}
