import { expect, test } from "bun:test";
import type { RunRecord } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { spanId } from "../core/trace.ts";
import { runSpans } from "./run-spans.ts";

const caller = "4bf92f3577b34da6a3ce929d0e0e4736";
const run: RunRecord = {
  ...{ id: "0199b6a2-8c3e-7000-8abc-1234567890ab", kind: "manus", status: "completed", principal: "me" },
  ...{ contextId: "c1", input: {}, lastEvent: 0, createdAt: 1_000, updatedAt: 9_000 },
};
const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 2, costUsd: 0.5, source: "provider" };
const call = { usage, model: "m", milliseconds: 300 };

/** The spans of a run whose events happened a second apart. */
function spansOf(events: readonly RunEvent[], of: RunRecord = run) {
  const spans = runSpans(of, "invoke_agent", 1);
  return events.flatMap((event, at) => spans?.take({ runId: of.id, seq: at + 1, at: 2_000 + at * 1_000, event }) ?? []);
}

test("a model call is a client's span with its time, model, tokens and cost; one by a tool is the tool's", () => {
  const [asked, replied] = spansOf([
    { type: "model-asked", callId: "c", ...call },
    { type: "model-replied", text: "secret words", toolCalls: [], ...call },
  ]);
  expect(replied).toEqual({
    ...{ name: "chat m", kind: "client", traceId: run.id.replaceAll("-", ""), spanId: spanId(run.id, "2") },
    ...{ parentId: spanId(run.id), startedAt: 2_700, endedAt: 3_000 },
    attributes: {
      ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.model": "m" },
      ...{ "gen_ai.usage.input_tokens": 10, "gen_ai.usage.cache_read.input_tokens": 4 },
      ...{ "gen_ai.usage.output_tokens": 2, "manyhands.cost.usd": 0.5 },
    },
  });
  expect(asked?.parentId).toBe(spanId(run.id, "c"));
});

test("a tool's span has the tool's own time, or that since it started, and says that it failed", () => {
  const ended = { type: "tool-ended", callId: "c", name: "bash", text: "secret words" };
  const spans = spansOf([
    { type: "tool-started", callId: "c", name: "bash", arguments: "{}" },
    { ...ended, isError: true, milliseconds: 0 },
    { ...ended, isError: false, milliseconds: 20 },
  ]);
  expect(spans.map(({ startedAt, endedAt, error }) => [startedAt, endedAt, error !== undefined])).toEqual([
    [2_000, 3_000, true],
    [3_980, 4_000, false],
  ]);
  expect(spans[0]).toMatchObject({
    ...{ name: "execute_tool bash", spanId: spanId(run.id, "c"), parentId: spanId(run.id) },
    attributes: { "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "c", "error.type": "tool_error" },
  });
});

test("an ask is a span under its messageId, from before it was sent until its answer", () => {
  const ask = { askId: "run/1", agent: "swe" };
  const [span, ...more] = spansOf([
    { type: "agent-asked", ...ask, url: "http://swe/", text: "secret words", parts: [], hops: 1 },
    { type: "agent-accepted", ...ask, taskId: "t1", contextId: "c" },
    {
      type: "agent-answered",
      ...ask,
      state: "failed",
      files: [],
      error: { code: "unavailable", message: "secret words" },
    },
  ]);
  expect(more).toEqual([]);
  expect(span).toMatchObject({
    ...{ name: "invoke_agent swe", kind: "client", spanId: spanId("run/1"), startedAt: 2_000, endedAt: 4_000 },
    error: "unavailable",
    attributes: {
      ...{ "server.address": "http://swe/", "manyhands.task.id": "t1", "manyhands.task.state": "failed" },
      "error.type": "unavailable",
    },
  });
});

test("the wait for a person is a span of its own", () => {
  const message = { type: "message-received", messageId: "m", parts: [] };
  const spans = spansOf([message, { type: "question-asked", question: "secret?", kind: "approval" }, message, message]);
  expect(spans).toMatchObject([
    {
      ...{ name: "wait for a person", startedAt: 3_000, endedAt: 4_000 },
      attributes: { "manyhands.question.kind": "approval" },
    },
  ]);
});

test("what is under way when the run ends ends with it: nothing below it is without its parent", () => {
  const spans = spansOf([
    { type: "agent-asked", askId: "run/1", agent: "swe", url: "http://swe/", text: "", parts: [], hops: 1 },
    { type: "agent-accepted", askId: "run/1", agent: "swe", taskId: "t1", contextId: "c" },
    { type: "tool-started", callId: "c", name: "bash", arguments: "{}" },
    { type: "question-asked", question: "secret?", kind: "question" },
    { type: "run-ended", status: "canceled" },
  ]);
  const below = { endedAt: 6_000, parentId: spanId(run.id) };
  expect(spans).toMatchObject([
    {
      ...{ ...below, name: "invoke_agent swe", kind: "client", spanId: spanId("run/1"), startedAt: 2_000 },
      attributes: { "gen_ai.agent.name": "swe", "manyhands.task.id": "t1" },
    },
    {
      ...{ ...below, name: "execute_tool bash", spanId: spanId(run.id, "c"), startedAt: 4_000 },
      attributes: { "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "c" },
    },
    { ...below, name: "wait for a person", startedAt: 5_000, attributes: { "manyhands.question.kind": "question" } },
    { name: "invoke_agent manus", attributes: { "manyhands.run.status": "canceled" } },
  ]);
  expect(spans.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
});

test("the run is the span of all this, from its acceptance, with what it used in all and what it noticed", () => {
  const [, span] = spansOf([
    { type: "model-replied", text: "", toolCalls: [], ...call, discarded: usage },
    { type: "context-compacted", summary: "secret words", kept: 1, usage },
    { type: "notice-given", kind: "stuck", text: "secret words" },
    { type: "step-finished", note: "secret words", data: { outcome: "completed", agent: "swe", more: 1 } },
    { type: "run-ended", status: "failed", error: { code: "token_limit", message: "secret words" } },
  ]);
  expect(span).toMatchObject({
    ...{ name: "invoke_agent manus", kind: "server", spanId: spanId(run.id), startedAt: 1_000, endedAt: 6_000 },
    attributes: {
      ...{ "gen_ai.agent.name": "manus", "gen_ai.conversation.id": "c1", "manyhands.run.status": "failed" },
      ...{ "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 6, "manyhands.cost.usd": 1.5 },
      "error.type": "token_limit",
    },
    moments: [
      { name: "context-compacted", at: 3_000, attributes: {} },
      { name: "notice-given", at: 4_000, attributes: { kind: "stuck" } },
      { name: "step-finished", at: 5_000, attributes: { outcome: "completed", agent: "swe" } },
    ],
    error: "token_limit",
  });
  expect(span?.parentId).toBeUndefined();
  expect(JSON.stringify(span)).not.toContain("secret");
});

test("a run of a traced caller is part of the caller's trace, and is not reported if the caller's is not sampled", () => {
  const end = [{ type: "run-ended", status: "completed" }];
  const traced = (flags: string) => ({ trace: { traceparent: `00-${caller}-00f067aa0ba902b7-${flags}` } });
  expect(spansOf(end, { ...run, input: traced("01") })).toMatchObject([
    { traceId: caller, parentId: "00f067aa0ba902b7", spanId: spanId(run.id) },
  ]);
  expect(spansOf(end, { ...run, input: traced("00") })).toEqual([]);
  expect(runSpans(run, "invoke_agent", 0)).toBeUndefined();
});

test("what a compaction asked the model counts in the run, with the replies that were discarded", () => {
  const [span] = spansOf([
    { type: "context-compacted", summary: "", kept: 1, usage, discarded: { ...usage, outputTokens: 5 } },
    { type: "run-ended", status: "completed" },
  ]);
  expect(span?.attributes).toMatchObject({
    ...{ "gen_ai.usage.input_tokens": 20, "gen_ai.usage.cache_read.input_tokens": 8 },
    ...{ "gen_ai.usage.output_tokens": 7, "manyhands.cost.usd": 1 },
  });
});

test("what recalling cost counts in the run, and how much was recalled is told, not what", () => {
  const recalled = { entries: [{ id: "1", kind: "fact", text: "secret words" }], takenIn: [], by: "meaning" };
  const [span] = spansOf([
    { type: "memory-recalled", ...recalled, usage },
    { type: "run-paused", error: { code: "internal", message: "secret words" } },
    { type: "run-resumed" },
    { type: "run-ended", status: "completed" },
  ]);
  expect(span?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 10, "manyhands.cost.usd": 0.5 });
  expect(span?.moments).toEqual([
    { name: "memory-recalled", at: 2_000, attributes: { entries: 1 } },
    { name: "run-paused", at: 3_000, attributes: {} },
    { name: "run-resumed", at: 4_000, attributes: {} },
  ]);
  expect(JSON.stringify(span)).not.toContain("secret");
});

test("a flow's run is a workflow's span, and 128 of its moments are told", () => {
  const spans = runSpans({ ...run, kind: "plan", createdAt: 9_000 }, "invoke_workflow", 1);
  const notice = { type: "notice-given", kind: "stuck", text: "" };
  for (let seq = 1; seq <= 130; seq++) spans?.take({ runId: run.id, seq, at: seq, event: notice });
  const ended = { runId: run.id, seq: 131, at: 8_000, event: { type: "run-ended", status: "completed" } };
  const [span] = spans?.take(ended) ?? [];
  expect(span).toMatchObject({
    // Clocks of two machines may differ: no span ends before it begins.
    ...{ name: "invoke_workflow plan", startedAt: 9_000, endedAt: 9_000 },
    attributes: { "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "plan" },
  });
  expect(span?.attributes).not.toHaveProperty("gen_ai.agent.name");
  expect([span?.moments?.length, span?.moments?.at(-1)?.at]).toEqual([128, 128]);
});

test("a call tells what it wrote to a cache, and no cost where none is known", () => {
  const [span] = spansOf([
    {
      ...{ type: "model-replied", text: "", toolCalls: [] },
      ...{ ...call, usage: { ...usage, cacheWriteTokens: 3, costUsd: null } },
    },
  ]);
  expect(span?.attributes).toMatchObject({ "gen_ai.usage.cache_creation.input_tokens": 3 });
  expect(span?.attributes).not.toHaveProperty("manyhands.cost.usd");
});

test("an answer whose ask is not known is a span of its moment, and a second one of an ask is not the first's", () => {
  const answer = { type: "agent-answered", askId: "run/1", agent: "swe", state: "completed", files: [] };
  const asked = { type: "agent-asked", askId: "run/1", agent: "swe", url: "http://swe/", text: "", parts: [], hops: 1 };
  expect(spansOf([answer, asked, answer, answer]).map(({ startedAt, endedAt }) => endedAt - startedAt)).toEqual([
    0, 1_000, 0,
  ]);
});
