import { expect, test } from "bun:test";
import { currentTrace, outgoingTrace, requestTrace, traced, withinTrace } from "./trace.ts";

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

test("each request out of a trace has a span of its own in it, and outside of one there is none", async () => {
  const sent: Headers[] = [];
  const fetch = traced(async (_: string, init?: RequestInit) => {
    sent.push(new Headers(init?.headers));
    return new Response();
  });
  await withinTrace({ traceparent, tracestate: "a=1" }, async () => {
    await Bun.sleep(1);
    await fetch("x", { headers: { "X-Own": "kept" } });
    await fetch("x");
    await withinTrace(undefined, () => fetch("x"));
  });
  expect(currentTrace()).toBeUndefined();
  expect(outgoingTrace()).toEqual({});
  const [one, two, none] = sent.map((headers) => headers.get("traceparent"));
  for (const span of [one, two]) expect(span).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
  expect(new Set([one, two, traceparent]).size).toBe(3);
  expect(none).toBeNull();
  expect(sent[0]?.get("x-own")).toBe("kept");
  expect(sent[0]?.get("tracestate")).toBe("a=1");
});
