import { expect, test } from "bun:test";
import type { RunRecord } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "./projection.ts";
import { runView, statusOf } from "./run-view.ts";

const sha256 = "a".repeat(64);
const run = { id: "r", contextId: "c", status: "completed", createdAt: 0, updatedAt: 0, lastEvent: 1 };

test.each([
  ["report.md", "report.md"],
  ["sub folder/what is #1?.md", "what%20is%20%231%3F.md"],
  ["50% off & more/ü.txt", "%C3%BC.txt"],
])("the file %s is served at an address that leads to it", (name, last) => {
  const parts = [{ type: "file", name, mediaType: "text/plain", size: 1, sha256 }];
  const event = { type: "artifact-added", artifactId: "r/f", name, parts };
  const projection = applyEvent(emptyProjection, { runId: "r", seq: 1, at: 0, event });
  const [file] = runView(run as RunRecord, projection, "manus", "https://agents.example/team/").files;
  expect(file).toMatchObject({ name, url: `https://agents.example/team/artifacts/${sha256}/${last}` });
  expect(new URL(file?.url ?? "").pathname.split("/").slice(0, 4)).toEqual(["", "team", "artifacts", sha256]);
});

const at = (...events: readonly RunEvent[]): TaskProjection =>
  events.reduce<TaskProjection>(
    (before, event, index) => applyEvent(before, { runId: "r", seq: index + 1, at: 0, event }),
    emptyProjection,
  );
const text = (...texts: readonly string[]) => texts.map((one) => ({ type: "text", text: one }));
const received = { type: "message-received", messageId: "m", parts: [...text("go", "on"), { type: "data", data: 1 }] };
const asks = (kind: string, question = "Which?") => ({ type: "question-asked", question, kind });

test.each([
  ["running", undefined, "running"],
  ["waiting", undefined, "waiting"],
  ["running", "question", "input-required"],
  ["waiting", "question", "input-required"],
  ["waiting", "approval", "input-required"],
  ["running", "authorization", "auth-required"],
  ["waiting", "authorization", "auth-required"],
  // Who is not at work waits for nobody, whatever was asked before.
  ["queued", "question", "queued"],
  ["paused", "authorization", "paused"],
  ["canceled", "question", "canceled"],
] as const)("a run that is %s with the open question %p is %s for its caller", (status, kind, expected) => {
  const projection = at(received, ...(kind === undefined ? [] : [asks(kind, "First?"), asks(kind)]));
  expect(statusOf({ ...run, status } as RunRecord, projection)).toBe(expected);
  const { question } = runView({ ...run, status } as RunRecord, projection, "manus", "http://a.example");
  expect(question).toBe((expected.endsWith("-required") ? "Which?" : undefined) as string);
});

test("a view has the whole run: what was asked, how far it is, what came of it and what it used", () => {
  const usage = { inputTokens: 3, cachedInputTokens: 0, outputTokens: 4, costUsd: 0, source: "provider" };
  const file = { type: "file", sha256, name: "a.md", mediaType: "text/markdown", size: 7 };
  const projection = at(
    received,
    {
      type: "model-replied",
      text: "Let me see.",
      toolCalls: [{ id: "1", name: "x", arguments: "" }],
      usage,
      model: "m",
      milliseconds: 1,
    },
    { type: "artifact-added", artifactId: "r/p", name: "partial-answer", parts: text("half") },
    { type: "agent-asked", askId: "q", agent: "swe", url: "u", text: "", parts: [], hops: 1 },
    {
      type: "artifact-added",
      artifactId: "r/a",
      name: "answer",
      parts: [...text("It", "is."), { type: "data", data: { n: 0 } }, file],
    },
    { type: "artifact-added", artifactId: "r/f", name: "a.md", parts: text("no answer") },
  );
  const input = { budget: { usd: 2 } };
  const record = { ...run, input, createdAt: 1_000, updatedAt: 2_000, lastEvent: 7 } as unknown as RunRecord;
  expect(runView(record, projection, "manus", "http://a.example")).toEqual({
    id: "r",
    name: "manus",
    contextId: "c",
    status: "completed",
    input: "go\non",
    createdAt: "1970-01-01T00:00:01.000Z",
    updatedAt: "1970-01-01T00:00:02.000Z",
    lastEvent: 7,
    progress: "Asks swe:",
    answer: "It\nis.",
    data: { n: 0 },
    files: [
      { name: "a.md", mediaType: "text/markdown", size: 7, sha256, url: `http://a.example/artifacts/${sha256}/a.md` },
    ],
    usage: { tokens: 7, outputTokens: 4, usd: 0, unpriced: false },
    agents: ["swe"],
    budget: { usd: 2 },
  });
});

test("a partial answer is shown until there is an answer, and the error is that of the end, or why it paused", () => {
  const partial = { type: "artifact-added", artifactId: "r/p", name: "partial-answer", parts: text("half") };
  const stuck = { code: "stuck", message: "It repeats itself." } as const;
  const changed = { code: "internal", message: "The code changed" } as const;
  const view = (projection: TaskProjection, error?: RunRecord["error"]) =>
    runView({ ...run, ...(error && { error }) } as RunRecord, projection, "manus", "http://a.example");
  const ended = view(at(received, partial, { type: "run-ended", status: "failed", error: stuck }), changed);
  expect([ended.answer, ended.error]).toEqual(["half", stuck]);
  expect(view(at(received), changed)).toMatchObject({ error: changed, files: [] });
  for (const field of ["error", "answer", "data", "progress", "question"])
    expect(view(at(received))).not.toHaveProperty(field);
});

test("a question about a call comes with the call, exactly, and with the agent that asks", () => {
  const call = {
    id: "a1b2c3",
    callId: "c1",
    name: "bash",
    arguments: '{"command": "rm -r build"}',
    risk: "Deletes build.",
  };
  const from = { agent: "swe", taskId: "t", contextId: "c" };
  const asked = {
    type: "question-asked",
    question: "Allow this call?",
    kind: "approval",
    askId: "q",
    from,
    approval: call,
  };
  const { approval, asker, questionEvent } = runView(
    { ...run, status: "waiting" } as RunRecord,
    at(received, asked),
    "planning",
    "http://a.example",
  );
  expect(approval).toEqual({
    id: "a1b2c3",
    name: "bash",
    arguments: '{"command": "rm -r build"}',
    risk: "Deletes build.",
  });
  expect([asker, questionEvent]).toEqual(["swe", 2]);
  const heard = { type: "step-started", step: 2, maxSteps: 9 };
  const goesOn = runView(
    { ...run, status: "running" } as RunRecord,
    at(received, asked, heard),
    "planning",
    "http://a.example",
  );
  for (const field of ["approval", "asker", "questionEvent", "question"]) expect(goesOn).not.toHaveProperty(field);
});
