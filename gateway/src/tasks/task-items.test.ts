import { expect, test } from "bun:test";
import { type Artifact, type Task, TaskState } from "@a2a-js/sdk";
import type { TaskUpdate } from "manyhands/internal/a2a/client/task-update";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { taskItems } from "./task-items.ts";

const status = (state: TaskState): Task["status"] => ({ state, message: undefined, timestamp: undefined });
const task = (state: TaskState, artifacts: Artifact[] = []): Task => ({
  id: "t",
  contextId: "c",
  status: status(state),
  artifacts,
  history: [],
  metadata: undefined,
});
const artifact = (name: string): Artifact => ({
  artifactId: `id-${name}`,
  name,
  description: "",
  parts: [
    {
      content: { $case: "url", value: `http://h/artifacts/abc/${name}` },
      filename: name,
      mediaType: "text/markdown",
      metadata: { "manyhands/file": { sha256: "abc", size: 3 } },
    },
  ],
  metadata: undefined,
  extensions: [],
});

async function itemsOf(...updates: TaskUpdate[]) {
  async function* stream() {
    yield* updates;
  }
  return Array.fromAsync(taskItems(stream()));
}

test("a stream that goes on without the task itself says whose state it is", async () => {
  const of = { taskId: "t", contextId: "c" };
  const items = await itemsOf(
    { kind: "status", seq: 2, ...of, state: TaskState.TASK_STATE_WORKING, text: "" },
    { kind: "end", task: task(TaskState.TASK_STATE_COMPLETED) },
  );
  expect(items).toEqual([
    { kind: "state", ...of, state: "working" },
    { kind: "state", ...of, state: "completed" },
  ]);
});

test("our agents send their journal, and artifacts appear once", async () => {
  const items = await itemsOf(
    { kind: "task", seq: 1, task: task(TaskState.TASK_STATE_SUBMITTED) },
    {
      kind: "status",
      seq: 2,
      state: TaskState.TASK_STATE_WORKING,
      text: "thinking",
      journal: { at: 70, event: { type: "step-started", step: 1, maxSteps: 3 } },
    },
    { kind: "progress", progress: { type: "text-delta", text: "a" } },
    { kind: "artifact", seq: 3, artifact: artifact("report.md"), append: false, lastChunk: true },
    { kind: "end", task: task(TaskState.TASK_STATE_COMPLETED, [artifact("report.md")]) },
  );
  expect(items).toMatchObject([
    { kind: "state", taskId: "t", contextId: "c", state: "submitted" },
    { kind: "event", seq: 2, at: 70, event: { type: "step-started" } },
    { kind: "state", state: "working" },
    { kind: "progress", event: { text: "a" } },
    { kind: "event", seq: 3, at: 70, event: { name: "report.md", parts: [{ type: "file", sha256: "abc", size: 3 }] } },
    { kind: "state", state: "completed" },
  ]);
  expect(items[2]).not.toHaveProperty("text");
});

test("a third-party agent sends status texts, and its artifacts at the end", async () => {
  const items = await itemsOf(
    { kind: "task", task: task(TaskState.TASK_STATE_WORKING) },
    { kind: "status", state: TaskState.TASK_STATE_WORKING, text: "Looking around" },
    { kind: "artifact", artifact: artifact("part"), append: true, lastChunk: false },
    { kind: "end", task: task(TaskState.TASK_STATE_FAILED, [artifact("part")]) },
  );
  expect(items).toMatchObject([
    { kind: "state", state: "working" },
    { kind: "state", state: "working", text: "Looking around" },
    { kind: "event", event: { type: "artifact-added", name: "part" } },
    { kind: "state", state: "failed" },
  ]);
});

test("an artifact that arrives in pieces appears once, whole, at the end", async () => {
  const piece = (value: string): Artifact => ({
    ...artifact("essay"),
    parts: [{ content: { $case: "text", value }, filename: "", mediaType: "", metadata: undefined }],
  });
  const items = await itemsOf(
    { kind: "task", task: task(TaskState.TASK_STATE_WORKING) },
    { kind: "artifact", artifact: piece("Once "), append: false, lastChunk: false },
    { kind: "artifact", artifact: piece("upon"), append: true, lastChunk: true },
    { kind: "end", task: task(TaskState.TASK_STATE_COMPLETED, [piece("Once upon")]) },
  );
  const told = items.filter(({ kind }) => kind === "event");
  expect(told).toMatchObject([{ event: { name: "essay", parts: [{ type: "text", text: "Once upon" }] } }]);
});

test("a state is told when it changes or when an agent of others says something with it, events in their time", async () => {
  const working = (text: string, journal?: { at: number; event: RunEvent }): TaskUpdate => ({
    kind: "status",
    state: TaskState.TASK_STATE_WORKING,
    text,
    ...(journal && { journal, seq: 4 }),
  });
  const step = { type: "step-started", step: 1, maxSteps: 3 };
  const items = await itemsOf(
    { kind: "task", task: task(TaskState.TASK_STATE_WORKING) },
    working(""),
    working("said by ours", { at: 70, event: step }),
    working("unknown", { at: 80, event: { type: "of-a-later-version" } }),
    { kind: "artifact", seq: 5, artifact: artifact("late.md"), append: false, lastChunk: true },
    working("said by others"),
    working("said by others"),
  );
  expect(items).toMatchObject([
    { kind: "state", state: "working" },
    { kind: "event", seq: 4, at: 70, event: { type: "step-started" } },
    { kind: "event", seq: 5, at: 80, event: { name: "late.md" } },
    { kind: "state", taskId: "t", state: "working", text: "said by others" },
    { kind: "state", taskId: "t", state: "working", text: "said by others" },
  ]);
});

test("the end has what the agent said with it and since when it stands; an artifact without a name has its id", async () => {
  const ended = { ...task(TaskState.TASK_STATE_FAILED, [{ ...artifact("x"), name: "" }]) };
  const message = { messageId: "m", role: 2, parts: [{ content: { $case: "text", value: "No such file." } }] } as never;
  const at = "1970-01-01T00:00:09.000Z";
  const items = await itemsOf(
    { kind: "task", task: { ...ended, status: { state: TaskState.TASK_STATE_WORKING, message, timestamp: at } } },
    { kind: "end", task: { ...ended, status: { state: TaskState.TASK_STATE_FAILED, message, timestamp: at } } },
  );
  expect(items[0]).toEqual({ kind: "state", taskId: "t", contextId: "c", state: "working" });
  expect(items[1]).toMatchObject({ kind: "event", event: { name: "id-x" } });
  expect(items[2]).toEqual({
    kind: "state",
    taskId: "t",
    contextId: "c",
    state: "failed",
    at: 9_000,
    text: "No such file.",
  });
});

test("a state that an agent repeats is told once, and an end without a time has none", async () => {
  const asking: TaskUpdate = { kind: "status", state: TaskState.TASK_STATE_INPUT_REQUIRED, text: "" };
  const items = await itemsOf(
    ...[{ kind: "task", task: task(TaskState.TASK_STATE_WORKING) } as const, asking, asking],
    { kind: "end", task: task(TaskState.TASK_STATE_COMPLETED) },
  );
  const about = { kind: "state", taskId: "t", contextId: "c" };
  expect(items as object[]).toEqual(["working", "input-required", "completed"].map((state) => ({ ...about, state })));
});
