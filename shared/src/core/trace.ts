import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Where a run belongs in its caller's trace, in the W3C's words: the caller's `traceparent`, and
 * its `tracestate` if it sent one.
 */
export type Trace = { readonly traceparent: string; readonly tracestate?: string };

/** The names of both, in headers and in MCP's `_meta`. */
const names = ["traceparent", "tracestate"] as const;

const current = new AsyncLocalStorage<Trace | undefined>();

/** Later versions may add fields behind a dash; version ff and ids of zeros are none. */
const wellFormed = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;
const longest = 512;

/** Reads a trace by its names; undefined if there is none, or one that is malformed. */
export function traceFrom(value: (name: "traceparent" | "tracestate") => unknown): Trace | undefined {
  const [traceparent, tracestate] = names.map(value);
  if (typeof traceparent !== "string" || !wellFormed.test(traceparent)) return undefined;
  if (traceparent.startsWith("00-") && traceparent.length !== 55) return undefined;
  const hasState = typeof tracestate === "string" && /^[\x20-\x7e]+$/.test(tracestate) && tracestate.length <= longest;
  return { traceparent: traceparent.slice(0, 55), ...(hasState && { tracestate }) };
}

/** The trace of an HTTP request, or of whatever else has its headers. */
export function requestTrace({ headers }: { readonly headers: Headers }): Trace | undefined {
  return traceFrom((name) => headers.get(name));
}

/** Does something as part of a trace, or of none: what it sends and starts belongs to that too. */
export function withinTrace<T>(trace: Trace | undefined, work: () => T): T {
  return current.run(trace, work);
}

/** The trace that the running code belongs to. */
export function currentTrace(): Trace | undefined {
  return current.getStore();
}

/**
 * What a request to somebody else says of the current trace: the same trace under a span of its
 * own. Empty outside a trace.
 */
export function outgoingTrace(): Partial<Trace> {
  const trace = currentTrace();
  if (trace === undefined) return {};
  const [, id, , flags] = trace.traceparent.split("-");
  const span = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
  return { ...trace, traceparent: `00-${id}-${span}-${flags}` };
}

/** A fetch whose requests carry the current trace. */
export function traced<Fetch extends (input: never, init?: RequestInit) => Promise<Response>>(fetch: Fetch): Fetch {
  return ((input, init) => {
    const trace = outgoingTrace();
    if (trace.traceparent === undefined) return fetch(input, init);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(trace)) headers.set(name, value);
    return fetch(input, { ...init, headers });
  }) as Fetch;
}
