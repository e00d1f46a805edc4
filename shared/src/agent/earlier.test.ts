import { expect, test } from "bun:test";
import type { ReadEvent } from "../core/events.ts";
import { projectMessages } from "./earlier.ts";

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
const texts = (messages: ReturnType<typeof projectMessages>) =>
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
