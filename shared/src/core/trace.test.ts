import { expect, test } from "bun:test";
import {
  currentTrace,
  outgoingTrace,
  ownTrace,
  readTrace,
  requestTrace,
  spanId,
  traced,
  traceOfRun,
  traceVariables,
  withinSpan,
  withinTrace,
} from "./trace.ts";

const id = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${id}-00f067aa0ba902b7-01`;
const traceOf = (headers: Record<string, string>) => requestTrace({ headers: new Headers(headers) });

test("a trace is read with its state, and a malformed one is none", () => {
  expect(traceOf({ traceparent, tracestate: "a=1,b=2" })).toEqual({ traceparent, tracestate: "a=1,b=2" });
  expect(traceOf({ traceparent: `cc-${id}-00f067aa0ba902b7-01-what-comes-later` })).toEqual({
    traceparent: `cc-${id}-00f067aa0ba902b7-01`,
  });
  expect(traceOf({ traceparent, tracestate: "a".repeat(513) })).toEqual({ traceparent });
  const malformed = [
    "",
    "00",
    traceparent.toUpperCase(),
    `${traceparent}-more`,
    `ff-${id}-00f067aa0ba902b7-01`,
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-${id}-${"0".repeat(16)}-01`,
  ];
  for (const one of malformed) expect(traceOf({ traceparent: one, tracestate: "a=1" })).toBeUndefined();
  expect(traceOf({ tracestate: "a=1" })).toBeUndefined();
});

test("requests out of a trace carry it under the span they are part of, and outside of one there is none", async () => {
  const sent: Headers[] = [];
  const fetch = traced(async (_: string, init?: RequestInit) => {
    sent.push(new Headers(init?.headers));
    return new Response();
  });
  await withinTrace({ traceparent, tracestate: "a=1" }, async () => {
    await Bun.sleep(1);
    await fetch("x", { headers: { "X-Own": "kept" } });
    await withinSpan(["run", "call"], () => fetch("x"));
    await withinSpan(["run", "other"], () => fetch("x"));
    await fetch("x");
    await withinTrace(undefined, () => withinSpan(["run", "call"], () => fetch("x")));
  });
  expect(currentTrace()).toBeUndefined();
  expect(outgoingTrace()).toEqual({});
  const [first, call, other, last, none] = sent.map((headers) => headers.get("traceparent"));
  expect([first, last]).toEqual([traceparent, traceparent]);
  expect(call).toBe(`00-${id}-${spanId("run", "call")}-01`);
  expect(other).toBe(`00-${id}-${spanId("run", "other")}-01`);
  expect(none).toBeNull();
  expect(sent[0]?.get("x-own")).toBe("kept");
  for (const headers of sent.slice(0, 4)) expect(headers.get("tracestate")).toBe("a=1");
});

test("a run is a span of its caller's trace, and keeps the caller's state and decision to sample", () => {
  const unsampled = `00-${id}-00f067aa0ba902b7-00`;
  expect(traceOfRun("r1", { trace: { traceparent: unsampled, tracestate: "a=1" } })).toEqual({
    traceparent: `00-${id}-${spanId("r1")}-00`,
    tracestate: "a=1",
  });
  expect(spanId("r1")).not.toBe(spanId("r2"));
  for (const input of [{}, null, "text", { trace: { traceparent: "00-nothing" } }])
    expect(traceOfRun("r1", input)).toBeUndefined();
});

test("a trace that a run begins has the run's id, and the given share of them is sampled", () => {
  const runId = "0199b6a2-8c3e-7000-8abc-1234567890ab";
  const own = readTrace(ownTrace(runId, 1));
  expect(own).toEqual({ traceId: runId.replaceAll("-", ""), parentId: spanId(runId), isSampled: true });
  expect(readTrace(ownTrace(runId, 0)).isSampled).toBe(false);
  expect(readTrace(ownTrace("named by a caller", 1)).traceId).toMatch(/^[0-9a-f]{32}$/);
  const sampled = Array.from({ length: 1_000 }, () => ownTrace(Bun.randomUUIDv7(), 0.25)).filter(
    (trace) => readTrace(trace).isSampled,
  );
  expect(sampled.length).toBeGreaterThan(150);
  expect(sampled.length).toBeLessThan(350);
});

test("programs get the trace by the names that tracers read, and nothing out of one", () => {
  expect(traceVariables()).toEqual({});
  const trace = { traceparent, tracestate: "a=1" };
  expect(withinTrace(trace, traceVariables)).toEqual({ TRACEPARENT: traceparent, TRACESTATE: "a=1" });
});
