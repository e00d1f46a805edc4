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
    name,
    kind: kinds[kind],
    spanContext: () => contextOf(span.spanId),
    ...(parentId !== undefined && { parentSpanContext: contextOf(parentId, kind === "server") }),
    startTime: hrTime(startedAt),
    endTime: hrTime(endedAt),
    duration: hrTime(endedAt - startedAt),
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: attributes as Attributes,
    links: [],
    events: moments.map(({ name, at, attributes }) => ({
      name,
      time: hrTime(at),
      attributes: attributes as Attributes,
    })),
    ended: true,
    resource,
    instrumentationScope: { name: "manyhands", version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function hrTime(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1_000), (milliseconds % 1_000) * 1_000_000];
}
