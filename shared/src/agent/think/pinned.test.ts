import { expect, test } from "bun:test";
import type { TaskMessage } from "../task/agent-state.ts";
import { compacted, pinnable, pinned } from "./pinned.ts";
import { messageTokens } from "./prompt-tokens.ts";

const user = (text: string, note?: true): TaskMessage => ({
  role: "user",
  parts: [{ type: "text", text }],
  ...(note && { note }),
});
const asks = (text: string, ...ids: string[]): TaskMessage => ({
  role: "assistant",
  text,
  toolCalls: ids.map((id) => ({ id, name: "ask_human", arguments: "{}" })),
});
const answer = (callId: string, isError = false): TaskMessage => ({
  role: "tool",
  callId,
  name: "ask_human",
  text: `answer ${callId}`,
  isError,
});
const goal = user("goal");

test("of the user's messages the goal and the newest so many stay; notes and failed questions are not the user's", () => {
  const [one, two, note] = [user("one"), user("two"), user("ended", true)];
  const messages = [goal, one, asks("hm"), note, asks("", "q"), answer("q", true), two];
  expect(pinned(messages, goal, 0)).toEqual([goal]);
  expect(pinned(messages, goal, 1)).toEqual([goal, two]);
  expect(pinned(messages, goal, 2)).toEqual([goal, one, two]);
  expect(pinned(messages, goal, 9)).toEqual([goal, one, two]);
});

test("an answer stays with the call that asked, without the other calls and words of that turn", () => {
  const alone = asks("", "a");
  const messages = [goal, alone, answer("a"), asks("Let me ask.", "b", "c"), answer("b"), asks("", "d"), user("end")];
  expect(pinned(messages, goal, 3)).toEqual([goal, alone, answer("a"), asks("", "b"), answer("b"), user("end")]);
  expect(pinned(messages, goal, 2)).toEqual([goal, asks("", "b"), answer("b"), user("end")]);
  expect(pinned(messages, goal, 1)).toEqual([goal, user("end")]);
});

test("the summary stands between what stays word for word and the newest messages", () => {
  const messages = [goal, user("one"), asks("did"), asks("newest")];
  const summary: TaskMessage = { role: "summary", text: "S" };
  expect(compacted(messages, goal, { summary: "S", kept: 1, pinned: 1 })).toEqual([
    goal,
    user("one"),
    summary,
    asks("newest"),
  ]);
  const two = user("two");
  expect(compacted([...messages, two], goal, { summary: "S", kept: 1, pinned: 2 })).toEqual([
    goal,
    user("one"),
    summary,
    two,
  ]);
  expect(compacted(messages, goal, { summary: "S", kept: 0 })).toEqual([goal, summary]);
});

test("the user's newest messages stay as long as they take three tenths of the window with the goal", () => {
  const [one, two] = [user("lorem ipsum ".repeat(50)), user("dolor sit ".repeat(30))];
  const messages = [goal, one, asks("words of the agent ".repeat(100)), two];
  const [g, a, b] = [messageTokens(goal), messageTokens(one), messageTokens(two)];
  const windowFor = (tokens: number) => Math.ceil(tokens / 0.3);
  expect(pinnable(messages, goal, windowFor(g + a + b))).toEqual({ count: 2, tokens: g + a + b });
  expect(pinnable(messages, goal, windowFor(g + a + b) - 4)).toEqual({ count: 1, tokens: g + b });
  expect(pinnable(messages.slice(1), goal, windowFor(a + b))).toEqual({ count: 2, tokens: a + b });
  expect(pinnable(messages, goal, 1)).toEqual({ count: 0, tokens: g });
});

test("what is older than a message that does not fit does not stay either", () => {
  const [small, large, newest] = [user("small"), user("lorem ipsum ".repeat(500)), user("newest")];
  const tokens = messageTokens(goal) + messageTokens(newest);
  const window = Math.ceil((tokens + messageTokens(small)) / 0.3);
  expect(pinnable([goal, small, large, newest], goal, window)).toEqual({ count: 1, tokens });
  expect(pinnable([goal, small, newest], goal, window).count).toBe(2);
});

test("the goal stays wherever it stands, and takes no other message's place", () => {
  const [before, after] = [user("before"), user("after")];
  expect(pinned([before, goal, after], goal, 1)).toEqual([goal, after]);
  expect(pinned([before, after, goal], goal, 1)).toEqual([after, goal]);
  expect(pinnable([before, goal, after], goal, 1_000_000).count).toBe(2);
});

test("a turn that only asked what is answered stays the same message; its words, and turns without any call, do not", () => {
  const [alone, worded] = [asks("", "a"), asks("Let me ask.", "b")];
  const staying = pinned([goal, asks(""), alone, answer("a"), worded, answer("b")], goal, 2);
  expect(staying).toEqual([goal, alone, answer("a"), asks("", "b"), answer("b")]);
  expect(staying[1]).toBe(alone);
});
