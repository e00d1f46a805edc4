import { expect, test } from "bun:test";
import type { JournalEvent } from "manyhands/internal/core/events/events";
import { sentEvent } from "manyhands/internal/core/events/read-event";
import type { SentEvent } from "./api/events.ts";
import { createThread, type Thread } from "./pages/conversation/thread.ts";
import type { Contribution, Note } from "./pages/conversation/thread-items.ts";

const agent = "manus";
const usage = { inputTokens: 9, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.25, source: "provider" } as const;
const said = (text: string, messageId = "m") =>
  ({ type: "message-received", messageId, parts: [{ type: "text", text }] }) as const;
const replied = (text: string, costUsd: number | null = 0.25) =>
  ({ type: "model-replied", text, toolCalls: [], usage: { ...usage, costUsd }, model: "m", milliseconds: 10 }) as const;

function threadOf(...events: readonly SentEvent[]): Thread {
  const thread = createThread(agent);
  for (const [index, event] of events.entries())
    thread.add({ seq: index + 1, at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(), event });
  return thread;
}
const turns = ({ items }: Thread): Contribution[] => items.filter((item) => item.kind === "turn");
const kinds = ({ items }: Thread) => items.map(({ kind }) => kind);

test("what an agent says and does until somebody else speaks is one turn, with its calls, time and cost", () => {
  const thread = threadOf(
    said("Do it."),
    { type: "step-started", step: 1, maxSteps: 3 },
    replied("Let me see."),
    { type: "tool-started", callId: "1", name: "bash", arguments: '{"command": "ls"}' },
    { type: "tool-ended", callId: "1", name: "bash", text: "a.md", isError: false, milliseconds: 5 },
    { type: "step-started", step: 2, maxSteps: 3 },
    replied("There is a.md."),
    said("And then?", "m2"),
    replied("Then it ends.", null),
    { type: "run-ended", status: "completed" },
  );
  expect(kinds(thread)).toEqual(["said", "turn", "said", "turn"]);
  const [first, second] = turns(thread);
  expect(first).toMatchObject({ who: agent, milliseconds: 25, usd: 0.5, unpriced: false, state: "done" });
  expect(first?.parts.map((part) => part.kind === "text" && part.text)).toEqual(["Let me see.", "There is a.md."]);
  expect(first?.calls).toMatchObject([{ name: "bash", ended: { text: "a.md", isError: false } }]);
  expect(second).toMatchObject({ usd: 0, unpriced: true, state: "done" });
});

test("the answer of a run is shown once, though its last words and its artifact say the same", () => {
  const answer = { artifactId: "a", name: "answer", parts: [{ type: "text", text: "168\n" }] } as const;
  const [turn] = turns(threadOf(said("Count."), replied("168"), { type: "artifact-added", ...answer }));
  expect(turn?.parts).toEqual([{ kind: "text", text: "168" }]);
});

test("a message that answers the open question belongs to it; the next one is said to the run", () => {
  const thread = threadOf(
    said("Go."),
    { type: "question-asked", question: "Which?", kind: "question" },
    said("This.", "m2"),
    said("Faster.", "m3"),
  );
  expect(kinds(thread)).toEqual(["said", "question", "said"]);
  expect(thread.items[1]).toMatchObject({ answer: { text: "This." }, isOver: false });
});

test("a message that the run did not read before it ended is marked, and no other", () => {
  const heard = { type: "message-heard", messageId: "m2", as: "message" } as const;
  const events = [said("Go."), said("Faster.", "m2"), heard, said("Too late.", "m3")];
  const unread = ({ items }: Thread) =>
    items.flatMap((item) => (item.kind === "said" && item.isUnread ? [item.text] : []));
  expect(unread(threadOf(...events))).toEqual([]);
  expect(unread(threadOf(...events, { type: "run-ended", status: "completed" }))).toEqual(["Too late."]);
});

test("a call that was going on when its run ended goes on no more", () => {
  const call = (callId: string) => ({ type: "tool-started", callId, name: "bash", arguments: "{}" }) as const;
  const ended = { type: "tool-ended", callId: "1", name: "bash", text: "", isError: false, milliseconds: 1 } as const;
  const working = [said("Go."), call("1"), ended, call("2")];
  const cut = (thread: Thread) => turns(thread).flatMap(({ calls }) => calls.map(({ isCut }) => isCut ?? false));
  expect(cut(threadOf(...working))).toEqual([false, false]);
  expect(cut(threadOf(...working, { type: "run-ended", status: "canceled" }))).toEqual([false, true]);
});

test("a question that nobody waits for any more is over", () => {
  const asked = { type: "question-asked", question: "Which?", kind: "question" } as const;
  for (const next of [
    { type: "step-started", step: 2, maxSteps: 3 },
    { type: "run-ended", status: "canceled" },
  ] as const)
    expect(threadOf(said("Go."), asked, next).items[1]).toMatchObject({ kind: "question", isOver: true });
});

test("an agent that was asked has a turn of its own, with what it was asked, its task and its outcome", () => {
  const ask = { askId: "a", agent: "swe" };
  const thread = threadOf(
    said("Fix it."),
    {
      type: "agent-asked",
      ...ask,
      url: "http://swe",
      text: "Fix",
      parts: [{ type: "text", text: "Fix it all" }],
      hops: 1,
    },
    { type: "agent-accepted", ...ask, taskId: "t9", contextId: "c" },
    { type: "agent-progressed", ...ask, text: "reading", usedSoFar: { tokens: 2, usd: 0.25, unpriced: false } },
    replied("Meanwhile."),
    {
      type: "agent-answered",
      ...ask,
      state: "failed",
      files: [],
      usage: { tokens: 5, usd: 1, unpriced: false },
      error: { code: "task_failed", message: "It does not build." },
    },
  );
  const [swe, own] = turns(thread);
  expect(swe).toMatchObject({ who: "swe", asked: "Fix it all", taskId: "t9", progress: ["reading"], usd: 1 });
  expect(swe).toMatchObject({ state: "failed", error: "It does not build.", milliseconds: 4_000 });
  expect(own).toMatchObject({ who: agent, state: "working" });
});

test("an agent whose question is open is not shown at work; another that was asked meanwhile is", () => {
  const asks = ["swe", "browser"].map((name): JournalEvent => {
    return { type: "agent-asked", askId: name, agent: name, url: "http://x", text: "Do it", parts: [], hops: 1 };
  });
  const question = { type: "question-asked", question: "Which?", kind: "question", askId: "swe" } as const;
  const events: JournalEvent[] = [
    ...asks,
    question,
    said("This one.", "n"),
    { type: "message-heard", messageId: "n", as: "answer" },
    question,
    { type: "agent-answered", askId: "swe", agent: "swe", state: "timed-out", files: [] },
  ];
  const seen = [2, 3, 4, 5, 6, 7].map((count) =>
    turns(threadOf(...events.slice(0, count))).map(({ isAsking = false, state }) => [state, isAsking]),
  );
  type Shown = (boolean | Contribution["state"])[];
  const [works, asking]: [Shown, Shown] = [
    ["working", false],
    ["working", true],
  ];
  expect(seen.map(([swe]) => swe)).toEqual([works, asking, asking, works, asking, ["failed", false]]);
  expect(seen.map(([, browser]) => browser)).toEqual(seen.map(() => works));
});

test("a flow that has thought is not shown at work while it waits for whom it asks", () => {
  const asked = { type: "model-asked", purpose: "plan", usage, model: "m", milliseconds: 5 } as const;
  const plan = { type: "plan-changed", note: "The plan", data: {} };
  const ask = {
    type: "agent-asked",
    askId: "a",
    agent: "swe",
    url: "http://swe",
    text: "Do.",
    parts: [],
    hops: 1,
  } as const;
  const states = turns(threadOf(said("Go."), plan, asked, ask)).map(({ who, state }) => [who, state]);
  expect(states).toEqual([
    [agent, "done"],
    ["swe", "working"],
  ]);
});

test("the newest report of an agent at work is what it has used, until its last one", () => {
  const ask = { askId: "a", agent: "swe" };
  const used = (usd: number) => ({ tokens: 1, usd, unpriced: usd === 0 });
  const events: JournalEvent[] = [
    { type: "agent-asked", ...ask, url: "http://swe", text: "Fix", parts: [], hops: 1 },
    { type: "agent-progressed", ...ask, text: "reading", usedSoFar: used(0) },
    { type: "agent-used", ...ask, usedSoFar: used(0.5) },
    { type: "agent-progressed", ...ask, text: "writing" },
    { type: "agent-answered", ...ask, state: "completed", files: [], usage: used(0.75) },
  ];
  const seen = [2, 3, 4, 5].map((count) => turns(threadOf(...events.slice(0, count)))[0]);
  expect(seen.map((turn) => [turn?.usd, turn?.unpriced])).toEqual([
    [0, true],
    [0.5, false],
    [0.5, false],
    [0.75, false],
  ]);
});

test("an answer that only repeats what an agent failed with is not told again", () => {
  const ask = { askId: "1", agent: "swe" };
  const partial = {
    artifactId: "a",
    name: "partial-answer",
    parts: [{ type: "text", text: "No room left.\n" }],
  } as const;
  const thread = threadOf(
    said("Go."),
    { type: "agent-asked", ...ask, url: "http://swe", text: "Go.", parts: [], hops: 1 },
    {
      type: "agent-answered",
      ...ask,
      state: "failed",
      files: [],
      error: { code: "task_failed", message: "No room left." },
    },
    { type: "artifact-added", ...partial },
  );
  expect(kinds(thread)).toEqual(["said", "turn"]);
});

test("an error that an agent was told to have failed with is not told again as the run's, nor one that a line of the flow tells", () => {
  const error = { code: "task_failed", message: "It does not build." } as const;
  const usage = { tokens: 5, usd: 1, unpriced: false };
  const failed = {
    type: "agent-answered",
    askId: "a",
    agent: "swe",
    state: "failed",
    files: [],
    usage,
    error,
  } as const;
  const ended = { type: "run-ended", status: "failed", error } as const;
  expect(threadOf(said("Go."), failed, ended).items.at(-1)).toMatchObject({ kind: "note", text: ":failed" });
  expect(threadOf(said("Go."), ended).items.at(-1)).toMatchObject({ kind: "note", text: error.message });
  const told = { type: "step-ended", note: error.message, data: { outcome: "failed" } };
  expect(threadOf(said("Go."), told, ended).items.slice(-2)).toMatchObject([
    { text: error.message },
    { text: ":failed" },
  ]);
});

const told = {
  "agent-chosen": { wanted: "skill:charts", agent, reason: "fits" },
  "step-assigned": { step: "1", agent, attempt: 1, begun: true },
  "step-ended": { step: "1", agent, attempt: 1, outcome: "blocked", reason: "no password" },
  "plan-changed": {
    text: "the plan",
    steps: [{ id: "1", text: "Read", agent, dependsOn: [], notes: "", status: "completed" }],
  },
  "branch-ended": { branch: "1", agent, outcome: "canceled" },
  "policy-settled": { policy: "any of 2", met: true, reason: "one is enough", outcome: "completed" },
  "choice-made": { choice: "data", by: "rule", reason: "orders.csv fits *.csv" },
  "iteration-ended": { iteration: 1, agent, outcome: "not_passed", feedback: "too long" },
  "argument-made": { round: 1, argument: 1, debater: "A", agent, outcome: "completed" },
  "debater-absent": { round: 1, debater: "B", agent, reason: "late", outcome: "blocked" },
  "verdict-given": { judge: "model", decision: "yes", confidence: 1, dissent: "the cost", citations: [1] },
  "tide-turned": { height: 3, outcome: "completed" },
};
const note = `What is told. ${"Word ".repeat(80)}end`;

test.each(Object.entries(told))("the flow event %s is a line with its whole note", (type, data) => {
  const [line] = threadOf({ type, note, data }).items as Note[];
  expect(line).toMatchObject({ kind: "note", text: note });
  if (type === "plan-changed") expect(line?.more).toBe("the plan");
});

test.each(Object.entries(told))("%s as earlier versions stored it looks the same", (type, { ...data }) => {
  const before = sentEvent({ type, note, ...withoutNew(type, data) }) as SentEvent;
  expect(threadOf(before).items).toEqual(threadOf({ type, note, data }).items);
});

/** The data without what earlier versions left to the type. */
function withoutNew(type: string, { begun: _, outcome, ...data }: Record<string, unknown>) {
  const isNew = ["policy-settled", "argument-made", "debater-absent"].includes(type);
  return { ...data, ...(!isNew && outcome !== undefined && { outcome }) } as { [key: string]: string };
}

test("the plan is that of its newest change, and a change that a line has told of is not told again", () => {
  const step = (status: string) => ({ id: "1", text: "Read", agent, dependsOn: [], notes: "", status });
  const thread = threadOf(
    { type: "plan-changed", note: "The plan", data: { text: "", steps: [step("not_started")] } },
    { type: "step-ended", note: "Step 1 is done", data: { outcome: "completed" } },
    { type: "plan-changed", note: "Step 1 is done", data: { text: "", steps: [step("completed")] } },
  );
  expect(thread.plan).toMatchObject([{ status: "completed" }]);
  expect(thread.items.map((item) => item.kind === "note" && [item.text, item.tone])).toEqual([
    ["The plan", "plain"],
    ["Step 1 is done", "good"],
  ]);
});

test("an event of a later version is left out", () => {
  expect(threadOf({ type: "of-a-later-version", height: 3 } as unknown as SentEvent).items).toEqual([]);
});

test("what is said once a question is over is no answer to it, and one that was answered is not over", () => {
  const question = { type: "question-asked", question: "Which?", kind: "question" } as unknown as SentEvent;
  const began = { type: "step-started", step: 1, maxSteps: 3 } as const;
  const late = threadOf(said("Do it."), question, began, said("The first.", "m2"));
  expect(late.items.map((item) => [item.kind, item.kind === "question" && [item.answer, item.isOver]])).toEqual([
    ["said", false],
    ["question", [undefined, true]],
    ["turn", false],
    ["said", false],
  ]);
  const [, answered] = threadOf(said("Do it."), question, said("The first.", "m2"), began).items;
  expect(answered).toMatchObject({ kind: "question", answer: { text: "The first." }, isOver: false });
});

test("a cost that is not known stays so, and an agent of the run's own name has a turn of its own", () => {
  expect(turns(threadOf(replied("a", null), replied("b", 0.25)))[0]).toMatchObject({ unpriced: true, usd: 0.25 });
  const asked = { type: "agent-asked", askId: "a", agent, text: "Do a part.", parts: [] } as unknown as SentEvent;
  const usage = { tokens: 1, usd: 0, unpriced: true };
  const ended = { type: "agent-answered", askId: "a", agent, state: "canceled", files: [], usage };
  const thread = threadOf(asked, replied("Mine."), ended as unknown as SentEvent);
  expect(turns(thread)).toMatchObject([
    { asked: "Do a part.", state: "canceled", unpriced: true, parts: [] },
    { parts: [{ kind: "text", text: "Mine." }] },
  ]);
});
