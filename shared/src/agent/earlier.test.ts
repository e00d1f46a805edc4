import { expect, test } from "bun:test";
import type { ReadEvent } from "../core/events/events.ts";
import { type Engine, terminalStatuses } from "../core/runs/engine.ts";
import type { Run } from "../core/runs/run.ts";
import { earlierTasks, projectMessages, readEarlier } from "./earlier.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" } as const;
const said = (text: string): ReadEvent => ({
  type: "message-received",
  messageId: text,
  parts: [{ type: "text", text }],
});
const heard = (messageId: string, as: "message" | "answer" = "message"): ReadEvent => ({
  type: "message-heard",
  messageId,
  as,
});
const replied = (text: string, ...ids: string[]): ReadEvent => ({
  type: "model-replied",
  text,
  toolCalls: ids.map((id) => ({ id, name: "bash", arguments: "{}" })),
  usage,
  model: "m",
  milliseconds: 1,
});
const ended = (callId: string): ReadEvent => ({
  type: "tool-ended",
  callId,
  name: "bash",
  text: `result ${callId}`,
  isError: false,
  milliseconds: 1,
});
const texts = (messages: Readonly<ReturnType<typeof projectMessages>>) =>
  messages.map((message) =>
    message.role === "user" ? message.parts.map((part) => part.type === "text" && part.text).join() : message.text,
  );

test("a task's events become its conversation, after the earlier ones", () => {
  const first = projectMessages([], [said("one"), heard("one"), replied("", "a"), ended("a"), replied("done")]);
  expect(texts(projectMessages(first, [said("two"), heard("two"), replied("ok")]))).toEqual([
    "one",
    "",
    "result a",
    "done",
    "two",
    "ok",
  ]);
});

test("the answer to a question is in the result of the call that asked, not in a separate message", () => {
  const asked: ReadEvent = { type: "question-asked", question: "which?", kind: "question" };
  const answer = [asked, said("this one"), heard("this one", "answer"), ended("a")];
  expect(texts(projectMessages([], [said("go"), heard("go"), replied("", "a"), ...answer]))).toEqual([
    "go",
    "",
    "result a",
  ]);
});

test("a compaction keeps the goal, the summary and the newest messages", () => {
  const compaction: ReadEvent = { type: "context-compacted", summary: "so far", kept: 1 };
  const events = [said("goal"), heard("goal"), replied("one"), replied("two"), compaction, replied("three")];
  expect(texts(projectMessages([], events))).toEqual(["goal", "so far", "two", "three"]);
});

test("a message stands where it was read, with the names its files were given", () => {
  const placed = { ...heard("late"), parts: [{ type: "text", text: "late-2" }] } as ReadEvent;
  const events = [said("go"), heard("go"), said("late"), replied("", "a"), ended("a"), placed, replied("ok")];
  expect(texts(projectMessages([], events))).toEqual(["go", "", "result a", "late-2", "ok"]);
});

test("unread messages and the task's outcome come at its end", () => {
  const end = { type: "run-ended", status: "canceled" } as const;
  expect(texts(projectMessages([], [said("go"), heard("go"), said("and this"), end]))).toEqual([
    "go",
    "and this",
    "[The task above ended here; it was canceled]",
  ]);
  expect(texts(projectMessages([], [said("never begun"), end]))[0]).toBe("never begun");
});

test("two messages with one id are both told, in their order, whether they were heard or not", () => {
  const same = (text: string) => ({ ...said(text), messageId: "1" }) as ReadEvent;
  const events = [same("one"), same("two"), heard("1"), same("three"), heard("1")];
  const canceled: ReadEvent = { type: "run-ended", status: "canceled" };
  expect(texts(projectMessages([], [...events, canceled]))).toEqual([
    "one",
    "two",
    "three",
    "[The task above ended here; it was canceled]",
  ]);
});

test("the ended tasks of a conversation are found on all pages, oldest first, for this principal and kind only", async () => {
  const asked: object[] = [];
  const pages = [
    {
      runs: [
        { id: "c", createdAt: 3 },
        { id: "a", createdAt: 1 },
      ],
      nextCursor: "2",
    },
    {
      runs: [
        { id: "d", createdAt: 4 },
        { id: "b", createdAt: 2 },
      ],
    },
  ];
  const engine = {
    list: async (query: object) => {
      asked.push(query);
      return pages[asked.length - 1] ?? { runs: [] };
    },
  } as unknown as Engine;
  const run = { contextId: "c1", principal: "alice" } as Run;
  expect(await earlierTasks(run, "swe", engine)).toEqual(["a", "b", "c", "d"]);
  const query = { contextId: "c1", principal: "alice", kind: "swe", statuses: terminalStatuses, limit: 100 };
  expect(asked).toEqual([query, { ...query, cursor: "2" }]);
});

test("what earlier tasks left is their conversation in order, and the sources of all that they took in", async () => {
  const journals: Record<string, object[]> = {
    a: [
      { ...said("one"), parts: [{ type: "data", data: 1 }] },
      { ...heard("one"), takenIn: ["agent"] },
      { ...ended("1"), takenIn: ["shop"] },
      { type: "artifact-added", artifactId: "x", name: "answer", parts: [], takenIn: ["web"] },
      { type: "artifact-added", artifactId: "y", name: "f", parts: [] },
      { type: "memory-recalled", entries: [], takenIn: ["own memory"], by: "words" },
    ],
    b: [said("two"), heard("two"), { ...ended("2"), name: "ask_human" }, replied("done")],
  };
  const engine = {
    events: async (id: string) => (journals[id] ?? []).map((event) => ({ event })),
  } as unknown as Pick<Engine, "events">;
  const { messages, takenIn } = await readEarlier(["a", "b"], engine);
  expect(texts([...messages])).toEqual(["false", "result 1", "two", "result 2", "done"]);
  expect([...takenIn].toSorted()).toEqual(["agent", "data", "own memory", "shop", "web"]);
});

test("the message of an earlier task counts as the user's unless its sender had read what others wrote", () => {
  const markOf = (takenIn?: readonly string[]) =>
    projectMessages([], [said("go"), { ...heard("go"), ...(takenIn && { takenIn }) } as ReadEvent]).map((message) =>
      message.role === "user" ? message.foreign : undefined,
    );
  expect([undefined, ["file", "data"], ["webhook"], ["file", "web"], ["task"]].map(markOf)).toEqual([
    [undefined],
    [undefined],
    [true],
    [true],
    [true],
  ]);
});

test.each([
  ["completed", undefined, undefined],
  ["canceled", undefined, "[The task above ended here; it was canceled]"],
  ["failed", { code: "timeout", message: "too late" }, "[The task above ended here; it failed: too late]"],
  ["failed", undefined, "[The task above ended here; it failed: unknown reason]"],
] as const)("a task that %s with %j leaves the note %p, which is nobody's words", (status, error, note) => {
  const end = { type: "run-ended", status, ...(error && { error }) } as ReadEvent;
  const added = projectMessages([], [said("go"), heard("go"), end]).slice(1);
  expect(added).toEqual(
    note === undefined ? [] : [{ role: "user", parts: [{ type: "text", text: note }], note: true }],
  );
});

test("images of results come along, and a compaction before any message changes nothing", () => {
  const images = [{ name: "p", mediaType: "image/png", size: 1, sha256: "0" }];
  const events = [
    { type: "context-compacted", summary: "s", kept: 0 },
    said("go"),
    heard("go"),
    { ...ended("1"), images },
  ];
  const [goal, result] = projectMessages([], events as ReadEvent[]);
  expect(goal).toMatchObject({ role: "user" });
  expect(result).toMatchObject({ role: "tool", images });
  expect(projectMessages([], [ended("1")])[0]).not.toHaveProperty("images");
  const replied = { type: "model-replied", text: "a", toolCalls: [], observation: { text: "a page" }, images };
  expect(projectMessages([], [replied] as unknown as ReadEvent[])).toMatchObject([
    { role: "observation", text: "a page", images },
    { role: "assistant", text: "a" },
  ]);
});
