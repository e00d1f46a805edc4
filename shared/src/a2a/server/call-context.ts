import { Extensions, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import { LEGACY_HTTP_EXTENSION_HEADER } from "@a2a-js/sdk/compat/v0_3";
import { type A2AError, ExtensionSupportRequiredError } from "@a2a-js/sdk/errors";
import { ServerCallContext } from "@a2a-js/sdk/server";
import type { Caller } from "../../core/caller.ts";
import { requestTrace, type Trace } from "../../core/trace.ts";
import {
  agentExtension,
  budgetExtension,
  dedupeExtension,
  hitlExtension,
  journalExtension,
  usageExtension,
} from "../extensions.ts";
import type { ProtocolVersion } from "../version.ts";

/**
 * What the request handler needs to know about a call besides its parameters. Each task is visible
 * only to the principal that started it.
 */
export type CallFacts = Caller & {
  /** Aborted when the caller disconnects; ends the watching, never the task. */
  readonly signal: AbortSignal;
  /** The last event a resuming reader has seen. */
  readonly after?: number;
  /** The trace the call belongs to. */
  readonly trace?: Trace;
};

const stateKey = "manyhands";
const failureKey = "manyhands/failure";

/** The facts of a call that `httpCall` began. */
export function callFacts(context: ServerCallContext): CallFacts & Activated {
  const facts = context.state.get(stateKey) as (CallFacts & Activated) | undefined;
  if (facts === undefined) throw new Error("This call context was not made by httpCall");
  return facts;
}

/** Whether a call activated these extensions. */
type Activated = { readonly journal: boolean; readonly dedupe: boolean; readonly hitl: boolean };

/** Throws ExtensionSupportRequiredError for a call without one of these extensions. */
export function activateRequired(context: ServerCallContext, required: readonly string[]): void {
  for (const uri of required) {
    if (!context.requestedExtensions?.includes(uri))
      throw new ExtensionSupportRequiredError(`Calls have to activate the extension ${uri} in A2A-Extensions`);
    if (!context.activatedExtensions?.includes(uri)) context.addActivatedExtension(uri);
  }
}

/** The protocol version of a call. */
export function wireOf({ requestedVersion }: ServerCallContext): ProtocolVersion {
  return requestedVersion === "0.3" ? "0.3" : "1.0";
}

/**
 * Stores a call's error: the answer that the SDK's transport handlers make of it no longer shows
 * it.
 */
export function noteFailure(context: ServerCallContext, error: A2AError): void {
  context.state.set(failureKey, error);
}

/** The error of a failed call. */
export function notedFailure(context: ServerCallContext): A2AError | undefined {
  return context.state.get(failureKey) as A2AError | undefined;
}

/** One HTTP call of either binding. */
export type HttpCall = {
  readonly context: ServerCallContext;
  /** Ends everything that still watches for this call. */
  readonly release: () => void;
  /** The headers of every response to it. */
  readonly headers: () => Record<string, string>;
};

const offered = [journalExtension, agentExtension, dedupeExtension, usageExtension, budgetExtension, hitlExtension];

/** Reads the headers: requested extensions and the last event a resuming reader has. */
export function httpCall(request: Request, caller: Caller, version: ProtocolVersion): HttpCall {
  const after = lastEventId(request);
  const trace = requestTrace(request);
  const asked = request.headers.get(HTTP_EXTENSION_HEADER) ?? request.headers.get(LEGACY_HTTP_EXTENSION_HEADER);
  const context = new ServerCallContext({
    requestedVersion: version,
    requestedExtensions: Extensions.parseServiceParameter(asked ?? undefined),
    user: { isAuthenticated: true, userName: caller.principal },
  });
  const activated = () => context.activatedExtensions ?? [];
  for (const uri of context.requestedExtensions ?? []) if (offered.includes(uri)) context.addActivatedExtension(uri);
  let isReleased = false;
  let released: AbortController | undefined;
  let signal: AbortSignal | undefined;
  const facts: CallFacts & Activated = {
    ...caller,
    ...(after === undefined ? {} : { after }),
    ...(trace && { trace }),
    get journal() {
      return activated().includes(journalExtension);
    },
    get dedupe() {
      return activated().includes(dedupeExtension);
    },
    get hitl() {
      return activated().includes(hitlExtension);
    },
    // Made for calls that wait for something: it costs more than all other facts.
    get signal() {
      released ??= new AbortController();
      if (isReleased) released.abort();
      signal ??= AbortSignal.any([request.signal, released.signal]);
      return signal;
    },
  };
  context.state.set(stateKey, facts);
  return {
    context,
    release: () => {
      isReleased = true;
      released?.abort();
    },
    headers: () => {
      const name = version === "0.3" ? LEGACY_HTTP_EXTENSION_HEADER : HTTP_EXTENSION_HEADER;
      return activated().length === 0 ? {} : { [name]: Extensions.toServiceParameter(activated()) };
    },
  };
}

function lastEventId(request: Request): number | undefined {
  const id = request.headers.get("Last-Event-ID");
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
