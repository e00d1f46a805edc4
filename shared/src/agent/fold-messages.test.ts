import { expect, test } from "bun:test";
import type { AgentEvent } from "./events.ts";
import { foldMessages } from "./fold-messages.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" } as const;
const said = (text: string): AgentEvent => ({
  type: "message-received",
  messageId: text,
  parts: [{ type: "text", text }],
});
const replied = (text: string, ...ids: string[]): AgentEvent => ({
  type: "model-replied",
  text,
  toolCalls: ids.map((id) => ({ id, name: "bash", arguments: "{}" })),
  usage,
  model: "m",
  milliseconds: 1,
});
const ended = (callId: string): AgentEvent => ({
  type: "tool-ended",
  callId,
  name: "bash",
  text: `result ${callId}`,
  isError: false,
  milliseconds: 1,
});
const texts = (messages: ReturnType<typeof foldMessages>) =>
  messages.map((message) =>
    message.role === "user" ? message.parts.map((part) => part.type === "text" && part.text).join() : message.text,
  );

test("events become the conversation the task held, after what came before it", () => {
  const first = foldMessages([], [said("one"), replied("", "a"), ended("a"), replied("done")]);
  expect(texts(foldMessages(first, [said("two"), replied("ok")]))).toEqual([
    "one",
    "",
    "result a",
    "done",
    "two",
    "ok",
  ]);
});

test("an answer to a question is in the result of the call that asked, not a message of its own", () => {
  const asked: AgentEvent = { type: "question-asked", question: "which?", kind: "question" };
  expect(texts(foldMessages([], [said("go"), replied("", "a"), asked, said("this one"), ended("a")]))).toEqual([
    "go",
    "",
    "result a",
  ]);
});

test("a compaction keeps the goal, the summary and the newest messages", () => {
  const compaction: AgentEvent = { type: "context-compacted", summary: "so far", kept: 1 };
  const events = [said("goal"), replied("one"), replied("two"), compaction, replied("three")];
  expect(texts(foldMessages([], events))).toEqual(["goal", "so far", "two", "three"]);
});
