import { expect, test } from "bun:test";
import type { TaskMessage } from "../task/agent-state.ts";
import { pairSafe } from "./to-model-messages.ts";

const user = (text: string): TaskMessage => ({ role: "user", parts: [{ type: "text", text }] });
const asks = (...ids: string[]): TaskMessage => ({
  role: "assistant",
  text: "",
  toolCalls: ids.map((id) => ({ id, name: "bash", arguments: "{}" })),
});
const result = (callId: string, text = callId): TaskMessage => ({
  role: "tool",
  callId,
  name: "bash",
  text,
  isError: false,
});

test("a conversation in order stays as it is", () => {
  const messages = [user("go"), asks("a", "b"), result("a"), result("b"), asks("c"), result("c")];
  expect(pairSafe(messages)).toEqual(messages);
});

test("a call without a result gets one that says so", () => {
  const [, , filled] = pairSafe([user("go"), asks("a")]);
  expect(filled).toMatchObject({ role: "tool", callId: "a", isError: true });
});

test("a result without its call is left out", () => {
  expect(pairSafe([result("lost"), user("go")])).toEqual([user("go")]);
});

test("a user's message between a call and its result is placed after the result", () => {
  expect(pairSafe([asks("a"), user("hurry"), result("a")])).toEqual([asks("a"), result("a"), user("hurry")]);
});

test("results follow in the order of the calls, each once", () => {
  const safe = pairSafe([asks("a", "b"), result("b"), result("a", "first"), result("a", "again")]);
  expect(safe.slice(1)).toEqual([result("a", "first"), result("b")]);
});
