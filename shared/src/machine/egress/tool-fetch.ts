import { noWeb, type ToolFetch } from "../../core/tools/tool.ts";
import type { Egress } from "./egress.ts";

const usualTimeoutMs = 30_000;
const usualBytes = 10_000_000;
/** Statuses of responses without a body (Fetch standard, section 2.2.6). */
const withoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Gives tools the web through this egress; without one, returns `noWeb`. */
export function toolFetch(egress: Egress | undefined): ToolFetch {
  if (egress === undefined) return noWeb;
  return async (signal, url, request = {}) => {
    const { timeoutMs = usualTimeoutMs, maxBytes = usualBytes, ...rest } = request;
    const { status, headers, body } = await egress.fetch({ url, signal, timeoutMs, maxBytes, ...rest });
    // The body is already decompressed.
    const { "content-encoding": _, "content-length": __, ...kept } = headers;
    return new Response(withoutBody.has(status) ? null : new Uint8Array(body), { status, headers: kept });
  };
}
