import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { AgentClient } from "../tasks/agent-client.ts";
import type { TaskItem } from "../tasks/task-item.ts";
import { renderTask } from "./render-task.ts";

type Client = Pick<AgentClient, "cancel">;
/** What pressing Esc does. */
const pressed: { escape?: (() => void) | undefined; onEscape(act: () => void): () => void } = {
  onEscape(act) {
    pressed.escape = act;
    return () => {
      pressed.escape = undefined;
    };
  },
};
type Open = Parameters<typeof renderTask>[0];

/** Renders a task and keeps what was written and said. */
async function rendered(open: Open, client?: Client, json = false, cancelsOnEscape = false) {
  const out: string[] = [];
  const said: string[] = [];
  const terminal = {
    style: { color: false, columns: 80 },
    interactive: false,
    out: (piece: string) => void out.push(piece),
    say: (line: string) => void said.push(line),
    ask: async () => undefined,
    onEscape: pressed.onEscape,
    read: async () => undefined,
  };
  const listeners = process.listenerCount("SIGINT");
  const outcome = await renderTask(open, { client, terminal, json, cancelsOnEscape }).catch((error: unknown) => ({
    error,
  }));
  expect(process.listenerCount("SIGINT")).toBe(listeners);
  expect(pressed.escape).toBeUndefined();
  return { outcome, out: out.join(""), said };
}

const state = (name: "working" | "completed" | "canceled", text?: string): TaskItem => ({
  kind: "state",
  taskId: "t1",
  contextId: "c1",
  state: name,
  ...(text !== undefined && { text }),
});
const happened = (event: object): TaskItem => ({ kind: "event", seq: 1, at: 1, event }) as TaskItem;

/** A stream that gives these items and then stays open until it is left. */
const openFor = (...items: readonly TaskItem[]): Open =>
  async function* (signal) {
    yield* items;
    await new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };

/** Presses Ctrl-C once the stream is being read. */
const interrupting = (open: Open): Open =>
  async function* (signal) {
    yield state("working");
    process.emit("SIGINT");
    yield* open(signal);
  };

test("Ctrl-C in `watch` ends only the watching: the task is not reported as canceled", async () => {
  const open = async function* (signal: AbortSignal): AsyncGenerator<TaskItem> {
    yield { kind: "state", taskId: "t1", contextId: "c1", state: "working" };
    process.emit("SIGINT");
    expect(signal.aborted).toBe(true);
    throw signal.reason;
  };
  expect((await rendered(open)).outcome).toMatchObject({ taskId: "t1", state: "working" });
});

test("the first Ctrl-C of a run cancels the task and waits for its end", async () => {
  const ending = Promise.withResolvers<TaskItem>();
  const canceled: string[] = [];
  const client: Client = {
    async cancel(taskId) {
      canceled.push(taskId);
      ending.resolve(state("canceled", "You canceled it."));
    },
  };
  const open: Open = async function* () {
    yield await ending.promise;
  };
  const { outcome, said } = await rendered(interrupting(open), client);
  expect(outcome).toMatchObject({ taskId: "t1", contextId: "c1", state: "canceled", text: "You canceled it." });
  expect(canceled).toEqual(["t1"]);
  expect(said.join()).toContain("Canceling");
});

test("Esc cancels the turn of a conversation once, Ctrl-C after it leaves, and neither reaches a task without it", async () => {
  const canceled: string[] = [];
  const client = { cancel: async (id: string) => void canceled.push(id) };
  const interrupted: Open = async function* (signal) {
    yield state("working");
    pressed.escape?.();
    pressed.escape?.();
    process.emit("SIGINT");
    yield* openFor()(signal);
  };
  expect((await rendered(interrupted, client, false, true)).outcome).toMatchObject({ state: "canceled" });
  expect(canceled).toEqual(["t1"]);
  const ended: Open = async function* () {
    yield state("working");
    pressed.escape?.();
    pressed.escape?.();
    yield state("canceled", "Canceled.");
  };
  expect((await rendered(ended, client, false, true)).outcome).toMatchObject({ state: "canceled" });
  expect((await rendered(ended, client)).outcome).toMatchObject({ state: "canceled" });
  expect(canceled).toEqual(["t1", "t1"]);
});

test("an agent that refuses to cancel is said, and the run is left", async () => {
  const client: Client = { cancel: () => Promise.reject(new AppError("unavailable", "It is away\u001b[2J.")) };
  const { outcome, said } = await rendered(interrupting(openFor()), client);
  expect(outcome).toMatchObject({ state: "canceled" });
  expect(said.at(-1)).toBe("Could not cancel: It is away\\u001b[2J.");
});

test("Ctrl-C before there is a task leaves at once and cancels nothing", async () => {
  const client: Client = { cancel: () => Promise.reject(new Error("There is nothing to cancel.")) };
  const open: Open = async function* (signal) {
    process.emit("SIGINT");
    yield* openFor()(signal);
  };
  const { outcome, said } = await rendered(open, client);
  expect(outcome).toMatchObject({ taskId: "", state: "canceled" });
  expect(said).toEqual([]);
});

test("a paused task is left with its cause, unless it was resumed since", async () => {
  let left = false;
  const paused = happened({ type: "run-paused", error: { code: "internal", message: "Look at it." } });
  const open: Open = async function* (signal) {
    signal.addEventListener("abort", () => {
      left = true;
    });
    yield* openFor(state("working"), paused)(signal);
  };
  expect((await rendered(open)).outcome).toMatchObject({ state: "paused", text: "Look at it." });
  expect(left).toBe(true);
  const bare = happened({ type: "run-paused" });
  expect((await rendered(openFor(bare))).outcome).toMatchObject({ state: "paused", text: "It needs a person." });
  const resumed: Open = async function* () {
    yield* [state("working"), paused, happened({ type: "run-resumed" })];
  };
  expect((await rendered(resumed)).outcome).toMatchObject({ state: "working" });
});

test("an error tells how to follow the task that runs on", async () => {
  const failing = (before: readonly TaskItem[], error: Error): Open =>
    async function* () {
      yield* before;
      throw error;
    };
  const away = new AppError("unavailable", "It is away. It was there.");
  const errorOf = async (open: Open) => ((await rendered(open)).outcome as { error: Error }).error;
  const told = await errorOf(failing([state("working")], away));
  expect(told).toMatchObject({ code: "unavailable", cause: away });
  expect(told.message).toMatch(/^It is away\. It was there\. The run continues; follow it with: .* runs watch t1$/);
  expect(await errorOf(failing([], away))).toBe(away);
  const bug = new Error("a bug");
  expect(await errorOf(failing([state("working")], bug))).toBe(bug);
});

test("as JSON each item is a line, an event of a flow in the form in which it is stored", async () => {
  const told = { type: "flow-told", of: "choice-made", note: "n\u009b", data: { choice: "a" } };
  const open: Open = async function* () {
    yield* [happened(told), state("completed")];
  };
  const lines = (await rendered(open, undefined, true)).out.split("\n");
  // A terminal obeys characters that JSON leaves as they are.
  expect(lines[0]).not.toContain("\u009b");
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual([
    { kind: "event", seq: 1, at: 1, event: { type: "choice-made", note: "n\u009b", data: { choice: "a" } } },
    state("completed"),
  ]);
});

test("what a task made and last said is kept until its end", async () => {
  const made = ["a.md", "b.md"].map((name) => ({ type: "artifact-added", artifactId: name, name, parts: [] }));
  const open: Open = async function* () {
    yield* [state("working", "So far."), ...made.map(happened), state("completed")];
  };
  expect((await rendered(open)).outcome).toMatchObject({ state: "completed", text: "So far.", artifacts: made });
});
