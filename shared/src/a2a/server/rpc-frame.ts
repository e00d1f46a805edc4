import { metadataKeys } from "../extensions.ts";

/**
 * The journal's sequence number in a streamed result, in the shapes of 1.0 (below its one member)
 * and 0.3 (on the result itself). Progress has none.
 */
export function seqOf(result: unknown): number | undefined {
  if (!isObject(result)) return undefined;
  for (const holder of [result, ...Object.values(result)]) {
    const seq = isObject(holder) && isObject(holder.metadata) ? holder.metadata[metadataKeys.seq] : undefined;
    if (typeof seq === "number") return seq;
  }
  return undefined;
}

/**
 * A streamed 0.3 result in which a question to the user ends the turn, as 0.3 specifies and the
 * SDK's translation omits.
 */
export function endLegacyTurn(result: unknown): unknown {
  if (!isObject(result) || result.kind !== "status-update" || !isObject(result.status)) return result;
  return result.status.state === "input-required" ? { ...result, final: true } : result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
