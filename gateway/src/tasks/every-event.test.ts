import { expect, test } from "bun:test";
import { remoteNotes } from "manyhands/internal/a2a/ask/notes";
import { eventText } from "manyhands/internal/core/events/event-text";
import { type EventOf, type EventType, readTypes } from "manyhands/internal/core/events/events";
import { readEvent, writtenEvent } from "manyhands/internal/core/events/read-event";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import type { Run, RunEvent, StepContext } from "manyhands/internal/core/runs/run";
import { applyEvent, emptyProjection } from "manyhands/internal/runs/projection";
import { statusText } from "manyhands/internal/runs/status-text";
import { runSpans } from "manyhands/internal/telemetry/run-spans";
import { createWorkMetrics } from "manyhands/internal/telemetry/work-metrics";
import type { SentEvent } from "../console/api/events.ts";
import { createThread, readers } from "../console/pages/conversation/thread.ts";
import { RunTree } from "../console/pages/run/model/run-tree.ts";
import { render } from "../terminal/render.ts";
import { newView } from "../terminal/terminal-view.ts";

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
  "context-compacted": { type: "context-compacted", summary: "so far", kept: 1, usage },
  "memory-recalled": {
    type: "memory-recalled",
    entries: [{ id: "a1", kind: "fact", text: "The shop is closed on Mondays." }],
    takenIn: ["own memory"],
    by: "words",
  },
  "agent-asked": { type: "agent-asked", ...ask, url: "http://127.0.0.1:1", text: "do", parts, hops: 1 },
  "agent-accepted": { type: "agent-accepted", ...ask, taskId: "t", contextId: "c" },
  "agent-progressed": { type: "agent-progressed", ...ask, text: "at it" },
  "agent-used": { type: "agent-used", ...ask, usedSoFar: { tokens: 2, usd: 0, unpriced: true } },
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

/** What an agent that asked another is told of that one's work. */
const toldToAskers: ReadonlySet<string> = new Set([
  ...["tool-started", "memory-recalled", "agent-asked", "agent-answered", "notice-given", "flow-told", "run-paused"],
]);
/** What counts in the metrics of a server. */
const measured: ReadonlySet<string> = new Set(["model-replied", "model-asked", "tool-ended", "context-compacted"]);

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

/** The same with a character in each of its words that a terminal would obey. */
function poisoned(value: unknown, key = ""): unknown {
  if (typeof value === "string") return words.has(key) ? `${value}\u001b[2J` : value;
  if (Array.isArray(value)) return value.map((one) => poisoned(one, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poisoned(one, name)]));
}
const words = new Set(["text", "name", "model", "agent", "question", "note", "message", "summary", "arguments", "url"]);

test.each(cases)("nothing that %s says reaches a terminal as it is", (_, stored) => {
  const item = { kind: "event", seq: 1, at: 1, event: readEvent(poisoned(stored) as RunEvent) } as const;
  expect(render(newView, item, { color: false, columns: 80 }).text).not.toContain("\u001b");
});

const started = { id: "r", kind: "agent:manus", input: null, createdAt: 0 } as unknown as RunRecord;

test.each(cases)("%s has words to search, a span or none, and a line for whoever asked or none", (type, stored) => {
  expect(typeof eventText(readEvent(stored))).toBe("string");
  const spans = runSpans(started, "invoke_agent", 1);
  expect(Array.isArray(spans?.take({ runId: "r", seq: 1, at: 1, event: stored }))).toBe(true);
  const emitted: RunEvent[] = [];
  const step = { emit: (event: RunEvent) => emitted.push(event), progress: () => undefined } as unknown as StepContext;
  const about = { askId: "a", agent: { name: "swe", url: "" } } as unknown as Parameters<typeof remoteNotes>[0];
  const journal = { at: 0, event: stored };
  remoteNotes(about, { told: 0, after: 0 }, step).take({ kind: "status", state: 2, text: "at it", journal });
  expect(emitted.length).toBe(toldToAskers.has(type) ? 1 : 0);
});

test.each(cases)("%s has its place in the console's tree of runs", (type, stored) => {
  if (type in events) expect(Object.keys(RunTree.readers)).toContain(type);
  const tree = new RunTree("r", "manus");
  tree.add({ runId: "r", seq: 1, at: "2026-01-01T00:00:00.000Z", event: stored as SentEvent });
  expect(tree.root.events.length).toBe(1);
});

test.each(cases)("%s is measured or known to need no measure", async (type, stored) => {
  const metrics = createWorkMetrics();
  const execute = (run: Run) =>
    run.step("emit", async (step) => {
      step.emit(stored);
      return null;
    });
  const step = { emit: () => undefined, signal: new AbortController().signal } as unknown as StepContext;
  const run = { step: (_: string, fn: (step: StepContext) => Promise<unknown>) => fn(step) } as unknown as Run;
  await metrics.counted({ kind: "k", execute }).execute(run, null);
  const names = metrics.families().flatMap(({ name, samples }) => (samples.length > 0 ? [name] : []));
  const own = ["manyhands_executions_total", "manyhands_runs_ended_total", "manyhands_steps_total"];
  expect(names.some((name) => !own.includes(name))).toBe(measured.has(type));
});

test("an event that does not match its type, or has a later version, is carried and not treated as that type", () => {
  expect(readEvent({ type: "step-started", step: "one" })).toEqual({ type: "unknown", of: "step-started" });
  const later = { type: "run-resumed", version: 2, note: "by a later version" };
  expect(readEvent(later)).toEqual({ type: "unknown", of: "run-resumed" });
});
