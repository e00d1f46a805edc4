import { AsyncLocalStorage } from "node:async_hooks";
import type { Json } from "./json.ts";
import { sha256Of } from "./text/sha256.ts";

/**
 * Where a run belongs in its caller's trace, in the W3C's words: the caller's `traceparent`, and
 * its `tracestate` if it sent one.
 */
export type Trace = { readonly traceparent: string; readonly tracestate?: string };

/** The names of both, in headers and in MCP's `_meta`. */
const names = ["traceparent", "tracestate"] as const;

const current = new AsyncLocalStorage<Trace | undefined>();

/** Later versions may add fields after a dash; version ff and ids of zeros are invalid. */
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
  return trace === current.getStore() ? work() : current.run(trace, work);
}

/** The trace that the running code belongs to. */
export function currentTrace(): Trace | undefined {
  return current.getStore();
}

/** What a request to somebody else says of the current trace. Empty outside a trace. */
export function outgoingTrace(): Partial<Trace> {
  return currentTrace() ?? {};
}

/**
 * The current trace as variables of a program, as OpenTelemetry names them; none outside a trace.
 */
export function traceVariables(): Record<string, string> {
  return Object.fromEntries(Object.entries(outgoingTrace()).map(([name, value]) => [name.toUpperCase(), value]));
}

/**
 * The id of a span, made from what it stands for, so that whoever sends a request and whoever
 * reports the span name the same one, in any process.
 */
export function spanId(...names: readonly string[]): string {
  return sha256Of(names.join("\n")).slice(0, 16);
}

/** The trace that a run's caller sent, which is in the run's input. */
export function callerTrace(input: Json): Trace | undefined {
  const { trace } = (input ?? {}) as { readonly trace?: Readonly<Record<string, Json>> };
  return traceFrom((name) => trace?.[name]);
}

/** A run's place in its caller's trace: a span of it, and the parent of all that the run does. */
export function traceOfRun(runId: string, input: Json): Trace | undefined {
  const caller = callerTrace(input);
  return caller && { ...caller, traceparent: withSpan(caller.traceparent, spanId(runId)) };
}

/**
 * The trace of a run that came without one: its id is the run's, if that is a UUID. This share of
 * runs, 0 to 1, is marked as sampled, the others as not, which holds for all they ask of others.
 */
export function ownTrace(runId: string, share: number): Trace {
  const digits = runId.replaceAll("-", "");
  const id = /^(?!0{32})[0-9a-f]{32}$/.test(digits) ? digits : sha256Of(runId).slice(0, 32);
  const isSampled = Number.parseInt(sha256Of(id).slice(0, 8), 16) < share * 2 ** 32;
  return { traceparent: `00-${id}-${spanId(runId)}-${isSampled ? "01" : "00"}` };
}

/** Does something as one span of the current trace; what it sends and starts belongs to that. */
export function withinSpan<T>(names: readonly string[], work: () => T): T {
  const trace = currentTrace();
  return trace === undefined
    ? work()
    : withinTrace({ ...trace, traceparent: withSpan(trace.traceparent, spanId(...names)) }, work);
}

/** The ids of a trace and of the span in it that sent it, and whether it is sampled. */
export function readTrace({ traceparent }: Trace) {
  const [, traceId = "", parentId = "", flags = ""] = traceparent.split("-");
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function withSpan(traceparent: string, span: string): string {
  const [, id, , flags] = traceparent.split("-");
  return `00-${id}-${span}-${flags}`;
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
