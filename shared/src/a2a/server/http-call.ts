import { Extensions, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import { LEGACY_HTTP_EXTENSION_HEADER } from "@a2a-js/sdk/compat/v0_3";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { agentExtension, journalExtension } from "../extensions.ts";
import type { ProtocolVersion } from "../version.ts";
import { createCallContext } from "./call-context.ts";

/** One HTTP call of either binding. */
export type HttpCall = {
  readonly context: ServerCallContext;
  /** Ends whatever still watches for this call. */
  readonly release: () => void;
  /** Headers every answer to it carries. */
  readonly headers: () => Record<string, string>;
};

/** Reads what the headers say: extensions asked for, and the last event a resuming reader has. */
export function httpCall(request: Request, principal: string, version: ProtocolVersion): HttpCall {
  const gone = new AbortController();
  const after = lastEventId(request);
  const extensionHeader = version === "0.3" ? LEGACY_HTTP_EXTENSION_HEADER : HTTP_EXTENSION_HEADER;
  const asked = request.headers.get(HTTP_EXTENSION_HEADER) ?? request.headers.get(LEGACY_HTTP_EXTENSION_HEADER);
  const context = createCallContext(
    {
      principal,
      signal: AbortSignal.any([request.signal, gone.signal]),
      ...(after === undefined ? {} : { after }),
    },
    {
      requestedVersion: version,
      requestedExtensions: Extensions.parseServiceParameter(asked ?? undefined),
      offered: [journalExtension, agentExtension],
    },
  );
  return {
    context,
    release: () => gone.abort(),
    headers: () => {
      const activated = context.activatedExtensions ?? [];
      return activated.length === 0 ? {} : { [extensionHeader]: Extensions.toServiceParameter(activated) };
    },
  };
}

function lastEventId(request: Request): number | undefined {
  const id = request.headers.get("Last-Event-ID");
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
