import { type Attributes, type HrTime, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { version } from "../core/release.ts";
import type { Span } from "./run-spans.ts";

/** Sends spans to a collector. `send` rejects if the collector has not taken them. */
export type SpanExporter = { send(spans: readonly Span[]): Promise<void>; close(): Promise<void> };

/** How long one sending may take, with its retries. Milliseconds. */
const deadlineMs = 10_000;

/**
 * The most characters of a text in a span: names and errors come from models and from others. A
 * collector refuses what is too large, and then gets nothing that comes after it.
 */
const longestText = 1_000;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/**
 * Sends spans over OTLP/HTTP (JSON) to a collector's base address, which gets them at `/v1/traces`,
 * as the work of this service.
 */
export function otlpExporter(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  service: string,
): SpanExporter {
  const url = `${endpoint.replace(/\/$/, "")}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: deadlineMs });
  const resource = resourceFromAttributes({
    "service.name": service,
    "service.namespace": "manyhands",
    "service.version": version,
  });
  return {
    async send(spans) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const readable = spans.map((span) => readableSpan(span, resource));
      exporter.export(readable, ({ code, error }) => (code === 0 ? resolve() : reject(error ?? new Error("refused"))));
      await promise;
    },
    close: () => exporter.shutdown(),
  };
}

function readableSpan(span: Span, resource: ReadableSpan["resource"]): ReadableSpan {
  const { name, kind, traceId, parentId, startedAt, endedAt, attributes, error, moments = [] } = span;
  const contextOf = (spanId: string, isRemote = false) => ({
    ...{ traceId, spanId, traceFlags: TraceFlags.SAMPLED },
    ...(isRemote && { isRemote }),
  });
  return {
    name: shortened(name),
    kind: kinds[kind],
    spanContext: () => contextOf(span.spanId),
    ...(parentId !== undefined && { parentSpanContext: contextOf(parentId, kind === "server") }),
    startTime: hrTime(startedAt),
    endTime: hrTime(endedAt),
    duration: hrTime(endedAt - startedAt),
    status:
      error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: shortened(error) },
    attributes: shortenedIn(attributes),
    links: [],
    events: moments.map(({ name, at, attributes }) => ({
      name: shortened(name),
      time: hrTime(at),
      attributes: shortenedIn(attributes),
    })),
    ended: true,
    resource,
    instrumentationScope: { name: "manyhands", version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`;
}

function shortenedIn(attributes: Span["attributes"]): Attributes {
  const texts = Object.entries(attributes).map(([name, value]) => [
    name,
    typeof value === "string" ? shortened(value) : value,
  ]);
  return Object.fromEntries(texts);
}

function hrTime(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1_000), (milliseconds % 1_000) * 1_000_000];
}
