import { expect, test } from "bun:test";
import { emptyProjection, type TaskProjection } from "../runs/projection.ts";
import { hitlRequest, hitlResponse, mismatch, wordsOf } from "./hitl.ts";

const approval = { id: "id", callId: "call", name: "bash", arguments: '{"command":"ls"}' };
const said = (seq: number, role: "user" | "agent", ...texts: readonly string[]) => ({
  seq,
  role,
  parts: texts.map((text) => ({ type: "text" as const, text })),
});
const history = [
  said(1, "user", "go"),
  said(3, "agent", "First?"),
  said(4, "user", "yes"),
  said(7, "agent", "Which", "one?"),
];
const request = (over: Partial<TaskProjection>) => hitlRequest("r", { ...emptyProjection, history, ...over });

test("an approval asks about its one call, with why it is asked where that is known", () => {
  const tool = { id: "id", call_id: "call", name: "bash", args: { command: "ls" } };
  expect(request({ question: "approval", approval })).toEqual({ type: "tool_approval_request", tools: [tool] });
  expect(request({ question: "approval", approval: { ...approval, risk: "deletes" } })).toEqual({
    type: "tool_approval_request",
    hint: "deletes",
    tools: [tool],
  });
});

test.each([
  ["", {}],
  [" \n", {}],
  ['{"a":null}', { a: null }],
  ["[1]", { arguments: "[1]" }],
  ["ls -l", { arguments: "ls -l" }],
  ["3", { arguments: "3" }],
])("the arguments %p are shown as %j", (text, args) => {
  const asked = request({ question: "approval", approval: { ...approval, arguments: text } });
  expect(asked).toMatchObject({ tools: [{ args }] });
});

test("a question asks in the newest words of the agent, and is named by their place", () => {
  const question = { question: "Which\none?", choices: [], multiple: false };
  expect(request({ question: "question" })).toEqual({ type: "ask_user_request", id: "r/7", questions: [question] });
  expect(request({ question: "approval" })).toMatchObject({ type: "ask_user_request", id: "r/7" });
  expect(request({ question: "question", history: [] })).toMatchObject({ id: "r/0", questions: [{ question: "" }] });
  for (const none of [{}, { question: "authorization" as const, approval }]) expect(request(none)).toBeUndefined();
});

test("what another agent asks is shown as the ask that waits for it, with the question or the call inside", () => {
  const from = { agent: "swe", taskId: "t", contextId: "there" };
  const ask = { id: "a", call_id: "a", name: "swe", args: {} };
  const whose = { subagent_name: "swe", task_id: "t", context_id: "there" };
  const questions = [{ question: "Which\none?", choices: [], multiple: false }];
  expect(request({ question: "question", asker: "a", from })).toEqual({
    type: "ask_user_request",
    id: "r/7",
    questions,
    nested: { ...whose, tools: [{ id: "r/7", call_id: "a", name: "ask_user", args: { questions } }] },
  });
  expect(request({ question: "approval", approval, asker: "a", from })).toEqual({
    type: "tool_approval_request",
    tools: [ask],
    nested: { ...whose, tools: [{ id: "id", call_id: "call", name: "bash", args: { command: "ls" } }] },
  });
});

const decide = (...decisions: readonly [string, boolean][]) => ({
  type: "tool_approval_response" as const,
  approvals: decisions.map(([id, approved]) => ({ id, approved })),
});
const answer = (id: string, count = 1) => ({
  type: "ask_user_response" as const,
  id,
  answers: Array.from({ length: count }, () => ({ answer: ["x"] })),
});
const asksApproval = request({ question: "approval", approval });
const asksWords = request({ question: "question" });

test.each([
  [asksApproval, decide(["id", true]), undefined],
  [asksApproval, decide(["id", false]), undefined],
  [asksApproval, decide(["other", true]), "must decide about id, once, and nothing else"],
  [asksApproval, decide(["id", true], ["id", true]), "must decide about id, once, and nothing else"],
  [asksApproval, decide(["id", true], ["other", true]), "must decide about id, once, and nothing else"],
  [asksApproval, answer("id"), "must be a tool_approval_response"],
  [asksWords, answer("r/7"), undefined],
  [asksWords, answer("r/3"), "must answer r/7"],
  [asksWords, answer("r/7", 0), "must have one answer for each question"],
  [asksWords, answer("r/7", 2), "must have one answer for each question"],
  [asksWords, decide(["r/7", true]), "must be an ask_user_response"],
  [undefined, answer("r/7"), "is an answer, but the task asks nothing now"],
] as const)("what does not answer exactly what is asked is said to be so: %#", (asked, response, why) => {
  expect(mismatch(asked, response as never)).toBe(why as string);
});

test("an answer has the words in which a person would have given it", () => {
  const approvals = [
    { id: "a", approved: true, rejection_reason: "ignored" },
    { id: "b", approved: false, rejection_reason: "too risky" },
    { id: "c", approved: false, rejection_reason: null },
    { id: "d", approved: false, rejection_reason: "" },
  ];
  expect(wordsOf({ type: "tool_approval_response", approvals })).toBe("yes a\nno: too risky\nno\nno");
  const answers = [{ answer: ["one", "two"] }, { answer: [] }, { answer: ["three"] }];
  expect(wordsOf({ type: "ask_user_response", id: "x", answers })).toBe("one, two\n\nthree");
});

test("an answer is of bounded size", () => {
  const fits = (response: object) => hitlResponse.safeParse(response).success;
  const decided = (count: number, over: object = {}) => ({
    type: "tool_approval_response",
    approvals: Array.from({ length: count }, () => ({ id: "a", approved: false, ...over })),
  });
  const words = (count: number, each: number, length = 1) => ({
    type: "ask_user_response",
    id: "a",
    answers: Array.from({ length: count }, () => ({ answer: Array.from({ length: each }, () => "x".repeat(length)) })),
  });
  const most = 64 * 1024;
  expect([0, 1, 100, 101].map((count) => fits(decided(count)))).toEqual([false, true, true, false]);
  expect([1_024, 1_025].map((length) => fits(decided(1, { id: "x".repeat(length) })))).toEqual([true, false]);
  expect([most, most + 1].map((length) => fits(decided(1, { rejection_reason: "x".repeat(length) })))).toEqual([
    true,
    false,
  ]);
  expect([fits(words(100, 100)), fits(words(101, 1)), fits(words(1, 101))]).toEqual([true, false, false]);
  expect([fits(words(1, 1, most)), fits(words(1, 1, most + 1))]).toEqual([true, false]);
  expect([{ id: "" }, { approved: "yes" }].map((over) => fits(decided(1, over)))).toEqual([false, false]);
});
