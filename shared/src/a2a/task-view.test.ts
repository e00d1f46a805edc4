import { expect, test } from "bun:test";
import { Role, Task, TaskState } from "@a2a-js/sdk";
import type { JournalEvent, RunEnded } from "../core/events/events.ts";
import type { RunRecord } from "../core/runs/engine.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "../runs/projection.ts";
import { isSettled, isTerminal, taskState } from "./task-state.ts";
import { taskView } from "./task-view.ts";

const identity = { id: "run-1", contextId: "context-1" };
const file = { sha256: "a".repeat(64), name: "my report.md", mediaType: "text/markdown", size: 12 };
const received = (messageId: string, text: string): JournalEvent => ({
  type: "message-received",
  messageId,
  parts: [{ type: "text", text }],
});
const ended = (status: RunEnded["status"], error?: RunEnded["error"]): RunEnded => ({
  type: "run-ended",
  status,
  ...(error === undefined ? {} : { error }),
});

function projection(...events: readonly (JournalEvent | RunEnded | { type: string })[]): TaskProjection {
  return events.reduce<TaskProjection>(
    (before, event, i) => applyEvent(before, { runId: identity.id, seq: i + 1, at: 1_000 * (i + 1), event }),
    emptyProjection,
  );
}

function record(over: Partial<RunRecord>): RunRecord {
  const base = { kind: "swe", principal: "p", input: null, lastEvent: 0, createdAt: 0, updatedAt: 0 };
  return { ...identity, ...base, status: "running", ...over };
}

const view = (from: TaskProjection, historyLength?: number) =>
  taskView(identity, from, "http://agent.test/", { historyLength, artifacts: true });

test("a run's events become a task with its messages, its files by URL and its answer as the last artifact", () => {
  const task = view(
    projection(
      received("m1", "write it"),
      { type: "step-started", step: 1, maxSteps: 9 },
      { type: "artifact-added", artifactId: "f1", name: "my report.md", parts: [{ type: "file", ...file }] },
      { type: "artifact-added", artifactId: "a1", name: "answer", parts: [{ type: "text", text: "done" }] },
      ended("completed"),
    ),
  );
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(task.status?.message).toBeUndefined();
  expect(task.status?.timestamp).toBe("1970-01-01T00:00:05.000Z");
  expect(task.history.map(({ messageId, role }) => [messageId, role])).toEqual([["m1", Role.ROLE_USER]]);
  expect(task.artifacts.map(({ name }) => name)).toEqual(["my report.md", "answer"]);
  expect(task.artifacts[0]?.parts[0]).toMatchObject({
    content: { $case: "url", value: `http://agent.test/artifacts/${file.sha256}/my%20report.md` },
    filename: "my report.md",
    mediaType: "text/markdown",
    metadata: { "manyhands/file": { sha256: file.sha256, size: 12 } },
  });
  expect(Task.fromJSON(Task.toJSON(task))).toEqual(task);
});

test("an artifact that comes again replaces the earlier one and moves to the end", () => {
  const artifact = (artifactId: string, text: string): JournalEvent => ({
    type: "artifact-added",
    artifactId,
    name: artifactId,
    parts: [{ type: "text", text }],
  });
  const task = view(projection(artifact("x", "1"), artifact("y", "2"), artifact("x", "3")));
  expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual(["y", "x"]);
  expect(task.artifacts[1]?.parts[0]?.content).toEqual({ $case: "text", value: "3" });
});

test("a question makes the task wait for input, whatever else still runs, until it is answered or a step starts", () => {
  const asked: JournalEvent = { type: "question-asked", question: "Which one?", kind: "question" };
  const other: JournalEvent = { type: "tool-started", callId: "c", name: "bash", arguments: "{}" };
  const open = projection(received("m1", "hi"), asked, other);
  expect(taskState(open)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  const task = view(projection(received("m1", "hi"), asked));
  expect(task.status?.message?.parts[0]?.content).toEqual({ $case: "text", value: "Which one?" });
  expect(task.history[1]).toMatchObject({ role: Role.ROLE_AGENT, messageId: "run-1/2", taskId: "run-1" });
  expect(taskState(projection(received("m1", "hi"), asked, received("m2", "that")))).toBe(TaskState.TASK_STATE_WORKING);
  expect(taskState(projection(received("m1", "hi"), asked, { type: "step-started", step: 2, maxSteps: 9 }))).toBe(
    TaskState.TASK_STATE_WORKING,
  );
  expect(taskState(projection({ ...asked, kind: "authorization" }))).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
});

test.each([
  ["queued", {}, TaskState.TASK_STATE_SUBMITTED],
  ["running", {}, TaskState.TASK_STATE_WORKING],
  ["paused", {}, TaskState.TASK_STATE_WORKING],
  ["waiting", { waiting: { signal: "message", reason: "input-required" } }, TaskState.TASK_STATE_INPUT_REQUIRED],
  ["waiting", { waiting: { signal: "message", reason: "auth-required" } }, TaskState.TASK_STATE_AUTH_REQUIRED],
  ["waiting", { waiting: { signal: "child" } }, TaskState.TASK_STATE_WORKING],
] as const)("a run that is %s with %j is shown as state %i", (status, over, state) => {
  expect(taskState(projection(received("m1", "hi")), record({ status, ...over }))).toBe(state);
});

test.each([
  ["completed", undefined, TaskState.TASK_STATE_COMPLETED, undefined],
  ["canceled", undefined, TaskState.TASK_STATE_CANCELED, undefined],
  ["failed", { code: "stuck", message: "It went in circles" }, TaskState.TASK_STATE_FAILED, "It went in circles"],
  ["failed", { code: "rejected", message: "Not my job" }, TaskState.TASK_STATE_REJECTED, "Not my job"],
] as const)("a run that ended %s with %j says so", (status, error, state, text) => {
  const task = view(
    projection(
      received("m", "x"),
      { type: "tool-started", callId: "c", name: "t", arguments: "{}" },
      ended(status, error),
    ),
  );
  expect(task.status?.state).toBe(state);
  const said = task.status?.message?.parts[0]?.content;
  expect(said?.$case === "text" ? said.value : undefined).toBe(text);
});

test("a paused run says why, until it resumes", () => {
  const paused = { type: "run-paused", error: { code: "non_deterministic", message: "The code changed" } };
  expect(projection(received("m", "x"), paused).status?.text).toBe("Paused: The code changed");
  expect(projection(received("m", "x"), paused, { type: "run-resumed" }).status).toBeUndefined();
});

test("historyLength 0 shows no message, a number the newest ones, nothing all of them", () => {
  const three = projection(received("m1", "1"), received("m2", "2"), received("m3", "3"));
  const ids = (historyLength?: number) => view(three, historyLength).history.map(({ messageId }) => messageId);
  expect(ids(0)).toEqual([]);
  expect(ids(2)).toEqual(["m2", "m3"]);
  expect(ids(9)).toEqual(["m1", "m2", "m3"]);
  expect(ids()).toEqual(["m1", "m2", "m3"]);
});

test("an event of an unknown type advances the position and nothing else", () => {
  const after = projection(received("m1", "1"), { type: "invented-later" });
  expect(after.seq).toBe(2);
  expect(after.history).toHaveLength(1);
});

test("a task reports its usage: its model calls, those of its tools, its summaries and what the agents it asked reported", () => {
  const usage = { inputTokens: 90, cachedInputTokens: 0, outputTokens: 10, source: "provider" } as const;
  const call = { type: "model-replied", text: "", toolCalls: [], model: "m", milliseconds: 1 } as const;
  const answered = { type: "agent-answered", askId: "1", agent: "swe", state: "failed", files: [] } as const;
  const task = view(
    projection(
      { ...call, usage: { ...usage, costUsd: 0.5 } },
      { type: "context-compacted", summary: "", kept: 1, usage: { ...usage, costUsd: null } },
      { type: "context-compacted", summary: "", kept: 1 },
      { type: "model-asked", callId: "c", model: "m", milliseconds: 1, usage: { ...usage, costUsd: 1 } },
      { ...call, usage: { ...usage, costUsd: 0 }, discarded: { ...usage, costUsd: 0 } },
      { ...answered, usage: { tokens: 1_000, usd: 0.25, unpriced: false } },
      answered,
    ),
  );
  expect(task.metadata?.["manyhands/usage"]).toEqual({ tokens: 1_500, outputTokens: 50, usd: 1.75, unpriced: true });
});

test("a running agent's usage so far counts until its final report, and stays if there is none", () => {
  const asks = { askId: "1", agent: "swe" } as const;
  const at = (tokens: number) => ({ tokens, outputTokens: 1, usd: 0, unpriced: false });
  const working = [
    { type: "agent-progressed", ...asks, text: "one", usedSoFar: at(10) },
    { type: "agent-progressed", ...asks, text: "two", usedSoFar: at(30) },
    { type: "agent-progressed", ...asks, text: "three" },
  ] as const;
  const told = (...events: readonly JournalEvent[]) => view(projection(...events)).metadata?.["manyhands/usage"];
  expect(told(...working)).toMatchObject({ tokens: 30 });
  const end = { type: "agent-answered", ...asks, state: "completed", files: [] } as const;
  expect(told(...working, { ...end, usage: at(45) })).toMatchObject({ tokens: 45 });
  expect(told(...working, { ...end, state: "timed-out" })).toMatchObject({ tokens: 30 });
});

test("a failure has its message as text and its code as data", () => {
  const error = { code: "task_failed", message: "No such file." } as const;
  const { status } = view(projection(received("m1", "go"), ended("failed", error)));
  expect(status?.message?.parts[0]?.content).toEqual({ $case: "text", value: "No such file." });
  expect(status?.message?.metadata).toEqual({ "manyhands/error": error });
});

test("an open question is the task's status, whatever else is running, until its ask ends", () => {
  const asked = { type: "question-asked", question: "Which colour?", kind: "question", askId: "a" } as const;
  const answered = (askId: string, state: "completed" | "timed-out"): JournalEvent => ({
    type: "agent-answered",
    askId,
    agent: askId,
    state,
    files: [],
  });
  const events = [received("m1", "go"), asked, answered("b", "completed")];
  const open = view(projection(...events));
  expect(open.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(JSON.stringify(open.status?.message)).toContain("Which colour?");
  const late = view(projection(...events, answered("a", "timed-out")));
  expect(late.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  expect(JSON.stringify(late.status?.message)).toContain("a timed-out");
  const next = view(projection(...events, received("m2", "red"), answered("b", "completed")));
  expect(next.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  expect(JSON.stringify(next.status?.message)).toContain("b completed");
});

test("an ended task is terminal, one that waits for the caller is settled, and no other is", () => {
  const { TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_CANCELED, TASK_STATE_REJECTED } = TaskState;
  const { TASK_STATE_INPUT_REQUIRED, TASK_STATE_AUTH_REQUIRED } = TaskState;
  const states = Object.values(TaskState).filter((state) => typeof state === "number");
  const ends = [TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_CANCELED, TASK_STATE_REJECTED];
  expect(new Set(states.filter(isTerminal))).toEqual(new Set(ends));
  expect(new Set(states.filter(isSettled))).toEqual(
    new Set([...ends, TASK_STATE_INPUT_REQUIRED, TASK_STATE_AUTH_REQUIRED]),
  );
  const rejected = projection(received("m1", "hi"), ended("failed", { code: "rejected", message: "No." }));
  expect(taskState(rejected)).toBe(TASK_STATE_REJECTED);
});

test("a task's status names the calls it makes, except those that only end it or ask", () => {
  const call = (name: string, args: string): JournalEvent => ({
    type: "tool-started",
    callId: name,
    name,
    arguments: args,
  });
  const said = projection(received("m1", "hi"), call("bash", '{"command":"ls"}'));
  const text = (from: TaskProjection) => view(from).status?.message?.parts.map(({ content }) => content?.value);
  expect(text(said)).toEqual(["bash: ls"]);
  for (const control of [call("terminate", '{"status":"success"}'), call("ask_human", '{"inquire":"Who?"}')])
    expect(text(projection(received("m1", "hi"), call("bash", '{"command":"ls"}'), control))).toEqual(text(said));
});

test("a task is shown with all that its messages and artifacts carry, and the sources of its answer", () => {
  const parts = [{ type: "text" as const, text: "x" }];
  const artifact = (artifactId: string, more: object): { type: string } => ({
    ...{ type: "artifact-added", artifactId, name: artifactId, parts },
    ...more,
  });
  const from = projection(
    { ...received("m1", "go"), ...{ metadata: { theirs: 1 } } },
    artifact("a", { takenIn: ["old"] }),
    artifact("b", { description: "What it is", metadata: { "manyhands/of": 2 }, takenIn: ["web", "file"] }),
    artifact("c", {}),
  );
  const task = view(from);
  expect(task).toMatchObject({ id: "run-1", contextId: "context-1" });
  expect(task.metadata).toMatchObject({ "manyhands/seq": 4, "manyhands/takenIn": ["web", "file"] });
  expect(task.history[0]).toMatchObject({ taskId: "run-1", contextId: "context-1", metadata: { theirs: 1 } });
  const told = task.artifacts.map(({ description, metadata }) => [description, metadata]);
  expect(told).toEqual([
    ["", undefined],
    ["What it is", { "manyhands/of": 2 }],
    ["", undefined],
  ]);
  expect(view(projection(received("m1", "go"), artifact("a", {}))).metadata).not.toHaveProperty("manyhands/takenIn");
  expect(taskView(identity, from, "http://agent.test/", { artifacts: false }).artifacts).toEqual([]);
});

test("a task that is read with its record stands as the record says, and without it as its events say", () => {
  const from = projection(received("m1", "go"));
  const paused = record({ status: "waiting", waiting: { signal: "m", reason: "input-required" }, updatedAt: 9_000 });
  const of = (run?: RunRecord) => taskView(identity, from, "http://agent.test/", { artifacts: true }, run).status;
  expect(of(paused)).toMatchObject({
    state: TaskState.TASK_STATE_INPUT_REQUIRED,
    timestamp: "1970-01-01T00:00:09.000Z",
  });
  expect(of()?.timestamp).toBe("1970-01-01T00:00:01.000Z");
});

test("for a caller that takes no text the answer is data, for any other it is what it is", () => {
  const from = projection(received("m", "x"), {
    ...{ type: "artifact-added", artifactId: "a", name: "answer", parts: [{ type: "text", text: "42" }] },
  });
  const kindOf = (input: object | null) =>
    taskView({ ...identity, input: input as never }, from, "http://agent.test/", { artifacts: true }).artifacts[0]
      ?.parts[0]?.content?.$case;
  expect([{ answerAs: "data" }, { answerAs: "text" }, {}, null].map(kindOf)).toEqual(["data", "text", "text", "text"]);
});

test("the files of a message are in the task's history by URL, as they are in its artifacts", () => {
  const message = { type: "message-received", messageId: "m1", parts: [{ type: "file", ...file }] } as const;
  expect(view(projection(message)).history[0]?.parts[0]).toMatchObject({
    content: { $case: "url", value: `http://agent.test/artifacts/${file.sha256}/my%20report.md` },
    metadata: { "manyhands/file": { sha256: file.sha256, size: 12 } },
  });
});
