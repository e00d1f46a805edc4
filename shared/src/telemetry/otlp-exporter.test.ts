import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { version } from "../core/release.ts";
import { otlpExporter } from "./otlp-exporter.ts";
import type { Span } from "./run-spans.ts";

type Sent = { readonly path: string; readonly key: string | null; readonly body: unknown };

let sent: Sent[] = [];
let status = 200;
/** What the collector asks to wait for, in seconds. */
let retryAfter = "";
let collector: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  collector = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname: path } = new URL(request.url);
      sent.push({ path, key: request.headers.get("x-key"), body: await request.json() });
      return Response.json({}, { status, headers: retryAfter === "" ? {} : { "Retry-After": retryAfter } });
    },
  });
});
afterAll(() => collector.stop(true));

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const span: Span = {
  ...{ name: "chat m", kind: "client", traceId, spanId: "00f067aa0ba902b7", parentId: "00f067aa0ba902b8" },
  ...{ startedAt: 1_700_000_000_123, endedAt: 1_700_000_001_500, attributes: { model: "m" }, error: "It went away." },
  moments: [{ name: "stuck", at: 1_700_000_001_001, attributes: { kind: "loop" } }],
};
const root: Span = {
  ...{ name: "invoke_agent manus", kind: "server", traceId, spanId: "00f067aa0ba902b8", parentId: "00f067aa0ba902b9" },
  ...{ startedAt: 1_700_000_000_000, endedAt: 1_700_000_002_000, attributes: {} },
};

test("spans arrive below the collector's address with their kind, parent, times, moments and error, as this service's", async () => {
  const exporter = otlpExporter(`${collector.url.origin}/base/`, { "x-key": "let me" }, "manyhands-manus");
  await exporter.send([span, root]);
  await exporter.close();
  const [{ path, key, body } = {} as Sent, ...more] = sent;
  expect([path, key, more]).toEqual(["/base/v1/traces", "let me", []]);
  type Body = { resourceSpans: [{ resource: object; scopeSpans: [{ scope: object; spans: [] }] }] };
  const [{ resource, scopeSpans }] = (body as Body).resourceSpans;
  const service = { "service.name": "manyhands-manus", "service.namespace": "manyhands", "service.version": version };
  const attributes = Object.entries(service).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  expect(resource).toEqual({ attributes, droppedAttributesCount: 0 });
  expect(scopeSpans[0].scope).toEqual({ name: "manyhands", version });
  const nanos = (text: string) => `${text}000000`;
  // The kinds are OTLP's: 2 is a server, 3 a client. Bit 9 of the flags: the parent is elsewhere.
  expect(scopeSpans[0].spans).toMatchObject([
    {
      ...{ name: "chat m", kind: 3, traceId, spanId: "00f067aa0ba902b7", parentSpanId: "00f067aa0ba902b8" },
      ...{ startTimeUnixNano: nanos("1700000000123"), endTimeUnixNano: nanos("1700000001500"), flags: 0x101 },
      attributes: [{ key: "model", value: { stringValue: "m" } }],
      events: [{ name: "stuck", timeUnixNano: nanos("1700000001001") }],
      status: { code: 2, message: "It went away." },
    },
    { kind: 2, parentSpanId: "00f067aa0ba902b9", flags: 0x301, status: { code: 0 } },
  ]);
});

test("what the collector refuses is not taken for sent", async () => {
  const exporter = otlpExporter(collector.url.origin, {}, "manyhands-manus");
  status = 400;
  await expect(exporter.send([root])).rejects.toThrow();
  status = 200;
  sent = [];
  await exporter.send([root]);
  expect(sent).toHaveLength(1);
  await exporter.close();
});

test("a sending is repeated within ten seconds of its beginning, whatever the environment says", async () => {
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT = "60000";
  const exporter = otlpExporter(collector.url.origin, {}, "manyhands-manus");
  delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT;
  // The collector takes nine seconds, and then a millisecond; each time it asks to wait for
  // another.
  const times = [0, 9_000, 9_001].map((ms) => 1_700_000_000_000 + ms);
  const { setTimeout: usual } = globalThis;
  using _ = spyOn(Date, "now").mockImplementation(() => times[sent.length] ?? 0);
  using __ = spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms: number) =>
    usual(work, ms === 1_000 ? 0 : ms)) as typeof setTimeout);
  [sent, status, retryAfter] = [[], 503, "1"];
  await expect(exporter.send([root])).rejects.toThrow();
  expect(sent).toHaveLength(2);
  [status, retryAfter] = [200, ""];
  await exporter.close();
});

test("texts that others chose are cut, so that no span makes a request too large for the collector", async () => {
  const exporter = otlpExporter(collector.url.origin, {}, "manyhands-manus");
  sent = [];
  const [text, short] = ["x".repeat(100_000), "y".repeat(1_000)];
  const attributes = { "gen_ai.tool.name": text, kept: short, count: 7 };
  await exporter.send([{ ...root, name: text, error: text, attributes, moments: [{ name: text, at: 1, attributes }] }]);
  const told = JSON.stringify(sent[0]?.body);
  expect(told.length).toBeLessThan(10_000);
  expect([told.includes(short), told.includes('"key":"count","value":{"intValue":7}')]).toEqual([true, true]);
  await exporter.close();
});
