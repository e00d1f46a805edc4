import { expect, test } from "bun:test";
import { type EventOf, type EventType, readTypes } from "manyhands/internal/core/events/events";
import { readEvent, writtenEvent } from "manyhands/internal/core/events/read-event";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { applyEvent, emptyProjection } from "manyhands/internal/runs/projection";
import { statusText } from "manyhands/internal/runs/status-text";
import type { SentEvent } from "../console/api/events.ts";
import { createThread, readers } from "../console/pages/conversation/thread.ts";
import { newView, render } from "../terminal/render.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" } as const;
const call = { callId: "1", name: "bash", text: "ok", isError: false, milliseconds: 1 };
const ask = { askId: "a", agent: "swe" };
const parts = [{ type: "text", text: "hello" }] as const;

/**
 * One of each type, with every field that a type must have: what is missing here does not compile.
 */
const events: { readonly [Type in EventType]: EventOf<Type> } = {
  "message-received": { type: "message-received", messageId: "m", parts },
  "message-heard": { type: "message-heard", messageId: "m", as: "message" },
  "step-started": { type: "step-started", step: 1, maxSteps: 2 },
  "model-replied": { type: "model-replied", text: "hm", toolCalls: [], usage, model: "m", milliseconds: 1 },
  "model-asked": { type: "model-asked", callId: "1", usage, model: "m", milliseconds: 1 },
  "tool-started": { type: "tool-started", callId: "1", name: "bash", arguments: "{}" },
  "tool-ended": { type: "tool-ended", ...call },
  "context-compacted": { type: "context-compacted", summary: "so far", kept: 1 },
  "memory-recalled": {
    type: "memory-recalled",
    entries: [{ id: "a1", kind: "fact", text: "The shop is closed on Mondays." }],
    takenIn: ["own memory"],
    by: "words",
  },
  "agent-asked": { type: "agent-asked", ...ask, url: "http://127.0.0.1:1", text: "do", parts, hops: 1 },
  "agent-accepted": { type: "agent-accepted", ...ask, taskId: "t", contextId: "c" },
  "agent-progressed": { type: "agent-progressed", ...ask, text: "at it" },
  "agent-answered": { type: "agent-answered", ...ask, state: "completed", files: [] },
  "question-asked": { type: "question-asked", question: "Which?", kind: "question" },
  "notice-given": { type: "notice-given", kind: "budget", text: "little is left" },
  "artifact-added": { type: "artifact-added", artifactId: "r/a", name: "a.md", parts },
  "run-paused": { type: "run-paused", error: { message: "The code changed" } },
  "run-resumed": { type: "run-resumed" },
  "run-ended": { type: "run-ended", status: "completed" },
};
const cases: readonly (readonly [string, RunEvent])[] = [
  ...Object.entries(events).map(([type, event]) => [type, event as RunEvent] as const),
  ["flow-told", { type: "tide-turned", note: "The tide turns", data: { height: 3 } }],
  ["unknown", { type: "of-a-later-version", height: 3 }],
];

test("there is a case for every type a reader may get", () => {
  expect(cases.map(([type]) => type).toSorted()).toEqual(readTypes.toSorted());
});

test.each(cases)("%s is read as it was written, and every view handles it", (type, stored) => {
  const event = readEvent(stored);
  expect(event.type).toBe(type as typeof event.type);
  expect(writtenEvent(event)).toEqual(type === "unknown" ? undefined : stored);
  expect(applyEvent(emptyProjection, { runId: "r", seq: 1, at: 1, event: stored }).seq).toBe(1);
  expect(["string", "undefined"]).toContain(typeof statusText(event));
  expect(typeof render(newView, { kind: "event", seq: 1, at: 1, event }, { color: false, columns: 80 }).text).toBe(
    "string",
  );
  if (type in events) expect(Object.keys(readers)).toContain(type);
  const thread = createThread("manus");
  thread.add({ seq: 1, at: "2026-01-01T00:00:00.000Z", event: stored as SentEvent });
  if (type === "flow-told") expect(thread.items).toMatchObject([{ kind: "note", text: "The tide turns" }]);
});

test("an event that does not match its type, or has a later version, is carried and not treated as that type", () => {
  expect(readEvent({ type: "step-started", step: "one" })).toEqual({ type: "unknown", of: "step-started" });
  const later = { type: "run-resumed", version: 2, note: "by a later version" };
  expect(readEvent(later)).toEqual({ type: "unknown", of: "run-resumed" });
});
