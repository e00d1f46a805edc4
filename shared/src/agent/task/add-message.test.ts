import { expect, test } from "bun:test";
import { addMessage, isView } from "./add-message.ts";
import type { AgentState, TaskMessage } from "./agent-state.ts";

const result = (text: string, more: object = {}): TaskMessage =>
  ({ role: "tool", callId: "c", name: "read", text, isError: false, ...more }) as TaskMessage;
const shown = (text: string, of: string, whole?: string, again: string | undefined = `[${of} as above]`) =>
  result(text, { shows: { of, brief: "", ...(whole && { whole }), ...(again && { again }) } });

function added(...messages: readonly TaskMessage[]) {
  const task = { messages: [], views: { open: [], weighed: 0 }, turn: 1 } as unknown as AgentState;
  for (const message of messages) {
    addMessage(task, message);
    task.turn++;
  }
  const texts = task.messages.map((message) => ("text" in message ? message.text : ""));
  return { texts, task, open: task.views.open.map(({ turn }) => turn) };
}

test("what is shown again as it was shown last is said to be above, and is no view of its own", () => {
  const { texts, open, task } = added(shown("one", "a", "1"), shown("two", "b", "2"), shown("one", "a", "1"));
  expect([texts, open]).toEqual([
    ["one", "two", "[a as above]"],
    [1, 2],
  ]);
  expect(task.messages[2]).not.toHaveProperty("shows");
});

test.each([
  ["it has changed since", [shown("one", "a", "1"), shown("two", "a", "2"), shown("one", "a", "1")]],
  ["another file has that content", [shown("one", "a", "1"), shown("one", "b", "1")]],
  ["it was shown in part", [shown("half", "a"), shown("one", "a", "1")]],
  ["it is shown in part", [shown("one", "a", "1"), shown("half", "a")]],
  ["nothing is said for the second time", [shown("one", "a", "1", ""), shown("one", "a", "1", "")]],
])("a result is kept whole if %s", (_, messages) => {
  const { texts, open } = added(...messages);
  expect(texts).toEqual(messages.map((message) => ("text" in message ? message.text : "")));
  expect(open).toEqual(messages.map((_, at) => at + 1));
});

test("a part shown in between does not hide what was shown whole before", () => {
  expect(added(shown("one", "a", "1"), shown("half", "a"), shown("one", "a", "1")).texts).toEqual([
    "one",
    "half",
    "[a as above]",
  ]);
});

test.each<readonly [string, TaskMessage, boolean]>([
  ["an observation", { role: "observation", text: "a page", brief: "" } as unknown as TaskMessage, true],
  ["a result with images", result("x", { images: [] }), true],
  ["a result that shows a file", shown("x", "a"), true],
  [
    "a cut result whose file is named",
    result("x\n\n[3 of 9 characters left out here; the whole is in .manyhands/output/0001-x.txt]\n\ny"),
    true,
  ],
  ["an output kept whole", result("x\n[whole output, 12 bytes: .manyhands/output/0001-x.txt]"), true],
  ["a plain result", result("the whole is in my bag]"), false],
  ["what the user said", { role: "user", parts: [] }, false],
  ["what the model said", { role: "assistant", text: "x", toolCalls: [] }, false],
  ["a summary", { role: "summary", text: "x" }, false],
])("%s is a view: %p", (_, message, isOne) => {
  expect(isView(message)).toBe(isOne);
  expect(added(message).open.length).toBe(isOne ? 1 : 0);
});
