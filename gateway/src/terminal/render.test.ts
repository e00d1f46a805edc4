import { expect, test } from "bun:test";
import type { Progress } from "manyhands/internal/core/events/progress";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import type { TaskItem } from "../tasks/task-item.ts";
import { render, summaryText } from "./render.ts";
import { styleOf } from "./style.ts";
import { newView, type TerminalView } from "./terminal-view.ts";

const plain = { color: false, columns: 60 };
const usage = {
  inputTokens: 1200,
  cachedInputTokens: 1000,
  outputTokens: 30,
  costUsd: null,
  source: "provider",
} as const;

function event(at: number, event: RunEvent): TaskItem {
  return { kind: "event", seq: at, at, event: readEvent(event) };
}
function progress(event: Progress): TaskItem {
  return { kind: "progress", event };
}
function show(items: readonly TaskItem[], style = plain): { text: string; view: TerminalView } {
  let view: TerminalView = newView;
  let text = "";
  for (const item of items) {
    const rendered = render(view, item, style);
    view = rendered.view;
    text += rendered.text;
  }
  return { text, view };
}

const replied = (text: string): RunEvent => ({
  type: "model-replied",
  text,
  toolCalls: [],
  usage,
  model: "m",
  milliseconds: 800,
});

test("a task reads as steps, streaming text, calls and results", () => {
  const { text, view } = show([
    event(1000, { type: "message-received", messageId: "1", parts: [{ type: "text", text: "go" }] }),
    event(1010, { type: "step-started", step: 1, maxSteps: 30 }),
    progress({ type: "text-delta", text: "I look at" }),
    progress({ type: "text-delta", text: " it.\nThen" }),
    event(1900, replied("I look at it.\nThen")),
    event(1910, { type: "tool-started", callId: "a", name: "bash", arguments: '{"command":"head -2 orders.csv"}' }),
    event(2000, {
      type: "tool-ended",
      callId: "a",
      name: "bash",
      text: "order_id,region\n1,north\n2,south\n",
      isError: false,
      milliseconds: 90,
    }),
    event(2100, { type: "artifact-added", artifactId: "x", name: "report.md", parts: [] }),
    event(3500, { type: "artifact-added", artifactId: "y", name: "answer", parts: [{ type: "text", text: "Done." }] }),
  ]);
  expect(text).toBe(`● Turn 1 of at most 30
  I look at it.
  Then
  · m · 1200 in, 30 out · 0.8 s
  → bash head -2 orders.csv
    ✓ 0.1 s  order_id,region
      1,north (+1 line)
  + report.md

  Done.
`);
  expect(summaryText(view)).toBe("2.5 s · 1 model call · 1,200 tokens in (1,000 cached) · 30 out · cost unknown");
});

test("text is shown once: streamed, or whole if nothing was streamed, and not again as the answer", () => {
  const answer = event(3, {
    type: "artifact-added",
    artifactId: "y",
    name: "answer",
    parts: [{ type: "text", text: "Forty-two." }],
  });
  const streamed = show([
    progress({ type: "text-delta", text: "Forty-two." }),
    event(2, replied("Forty-two.")),
    answer,
  ]);
  const whole = show([event(2, replied("Forty-two.")), answer]);
  for (const { text } of [streamed, whole]) expect(text.match(/Forty-two/g)).toHaveLength(1);
});

test("a restarted answer is shown again after a note on why", () => {
  const { text } = show([
    progress({ type: "text-delta", text: "Half" }),
    progress({ type: "deltas-void", cause: "connection lost" }),
    progress({ type: "text-delta", text: "Whole" }),
  ]);
  expect(text).toBe("  Half\n  (retrying: connection lost)\n  Whole");
});

test("control sequences are shown as text, wherever they come from", () => {
  const evil = "\x1b]0;title\x07\x1b[2J\r\u202eabc\x9b31m\u200b\u{e0041}";
  const { text } = show([
    progress({ type: "text-delta", text: evil }),
    progress({ type: "reasoning-delta", text: evil }),
    progress({ type: "tool-output", callId: "a", text: evil }),
    progress({ type: "deltas-void", cause: evil }),
    event(1, replied(evil)),
    event(1, { type: "tool-started", callId: "a", name: evil, arguments: JSON.stringify({ command: evil, n: 1 }) }),
    event(1, { type: "tool-ended", callId: "a", name: evil, text: evil, isError: true, milliseconds: 1 }),
    event(1, { type: "question-asked", question: evil, kind: "question" }),
    event(1, { type: "notice-given", kind: "stuck", text: evil }),
    event(1, { type: "artifact-added", artifactId: "x", name: evil, parts: [] }),
    event(1, { type: "artifact-added", artifactId: "y", name: "answer", parts: [{ type: "text", text: evil }] }),
  ]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what is looked for.
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u{e0041}]/u);
  expect(text).toContain("\\u001b]0;title");
  expect(text).toContain("\\u200b\\udb40\\udc41");
});

test("results of concurrent calls carry their names, and errors their mark", () => {
  const { text } = show([
    event(1, { type: "tool-started", callId: "a", name: "one", arguments: '{"path":"a","n":2}' }),
    event(1, { type: "tool-started", callId: "b", name: "two", arguments: "not json" }),
    event(1, { type: "tool-ended", callId: "b", name: "two", text: "no", isError: true, milliseconds: 10 }),
    event(1, { type: "tool-ended", callId: "a", name: "one", text: "", isError: false, milliseconds: 10 }),
  ]);
  expect(text).toBe("  → one path=a n=2\n  → two not json\n    ✗ two 0.0 s  no\n    ✓ 0.0 s\n");
});

test("live output of a call is limited", () => {
  const { text } = show([
    progress({ type: "tool-output", callId: "a", text: Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n") }),
    progress({ type: "tool-output", callId: "a", text: "later" }),
  ]);
  expect(text.split("\n")).toHaveLength(14);
  expect(text).toEndWith("│ … more follows\n");
});

test("live output keeps its lines and their indentation, however it is cut on its way", () => {
  const output = (text: string, callId = "a") => progress({ type: "tool-output", callId, text });
  const ended = { type: "tool-ended", callId: "a", name: "x", text: "", isError: false, milliseconds: 1 } as const;
  const { text } = show([
    event(1, { type: "tool-started", callId: "a", name: "x", arguments: "{}" }),
    output("warm readings"),
    output(" "),
    output("{'F1': 3}\ndef f():\n\treturn"),
    output("B\n", "b"),
    output(" 1\n    last"),
    event(1, ended),
  ]);
  expect(text.split("\n").filter((line) => line.includes("│"))).toEqual([
    "    │ warm readings {'F1': 3}",
    "    │ def f():",
    "    │   return",
    "    │ B",
    "    │  1",
    "    │     last",
  ]);
  expect(text).toEndWith("✓ 0.0 s\n");
});

test("no line except running text is wider than the terminal", () => {
  const long = "word ".repeat(100);
  const { text } = show([
    event(1, { type: "tool-started", callId: "a", name: "bash", arguments: JSON.stringify({ command: long }) }),
    event(1, {
      type: "tool-ended",
      callId: "a",
      name: "bash",
      text: `${long}\n${long}`,
      isError: false,
      milliseconds: 1,
    }),
  ]);
  for (const line of text.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
});

test("cost that is partly known says so", () => {
  const priced = { ...usage, costUsd: 0.0125 };
  const { view } = show([event(1, replied("a")), event(2, { ...replied("b"), usage: priced } as RunEvent)]);
  expect(summaryText(view)).toContain("$0.0125 plus 1 call of unknown cost");
});

test("colours appear only on a terminal that wants them", () => {
  expect(styleOf({ isTTY: true, columns: 80 }, {})).toEqual({ color: true, columns: 80 });
  expect(styleOf({ isTTY: true }, { NO_COLOR: "1" }).color).toBe(false);
  expect(styleOf({ isTTY: true }, { TERM: "dumb" }).color).toBe(false);
  expect(styleOf({}, {}).color).toBe(false);
  expect(show([event(1, { type: "step-started", step: 1, maxSteps: 2 })], { color: true, columns: 60 }).text).toContain(
    "\x1b[1m",
  );
});

test("a plan is shown with the marks of its steps, an error of the planning tool like any other", () => {
  const ended = (text: string, isError = false): TaskItem =>
    event(1, { type: "tool-ended", callId: "a", name: "planning", text, isError, milliseconds: 2 });
  const plan =
    "Step 0 updated in plan 'p'.\n\nPlan: Report (ID: p)\nSteps:\n0. [✓] Look\n1. [→] Count\n   Notes: twice\n2. [ ] Write";
  expect(show([ended(plan)]).text).toBe("    [✓] Look\n    [→] Count\n    [ ] Write\n");
  expect(show([ended("No plan found with ID: q", true)]).text).toContain("✗");
});

test("each step of a flow is shown in one line, its plan with the marks", () => {
  const step = { step: "1", agent: "swe", attempt: 1 };
  const { text } = show([
    event(1, {
      type: "plan-changed",
      text: "Steps:\n0. [→] [swe] Fix\n1. [ ] [manus] Tell",
      steps: [],
      note: "The plan: \u001b[1mFix",
    }),
    event(2, { type: "step-assigned", ...step, note: "Step 1: swe begins" }),
    event(3, { type: "step-ended", ...step, outcome: "failed", note: "Step 1: swe failed" }),
    event(4, { type: "agent-chosen", wanted: "skill:fix", agent: "swe", reason: "it fixes", note: "it fixes" }),
  ]);
  expect(text).toBe(
    "● The plan: \\u001b[1mFix\n    [→] [swe] Fix\n    [ ] [manus] Tell\n  → Step 1: swe begins\n  ✗ Step 1: swe failed\n  · it fixes\n",
  );
});

test("a plan is shown again when a step has ended, not when the step's own line says it", () => {
  const plan = (marks: string, note: string): RunEvent => ({
    type: "plan-changed",
    text: [...marks].map((mark, index) => `${index}. [${mark}] [swe] Part ${index}`).join("\n"),
    steps: [],
    note,
  });
  const step = { step: "1", agent: "swe", attempt: 1 };
  const ask = { askId: "r/1", agent: "swe" };
  const { text } = show([
    event(1, plan("  ", "The plan: Fix")),
    event(2, { type: "step-assigned", ...step, note: "Step 1: swe begins" }),
    event(3, plan("→ ", "Step 1: swe begins")),
    event(4, { type: "agent-asked", ...ask, url: "http://swe", text: "You do one step …", parts: [], hops: 1 }),
    event(5, { type: "agent-progressed", ...ask, text: "search: pattern=total path=." }),
    event(6, { type: "agent-progressed", ...ask, text: 'bash {"command":"cat a\\ncat b an' }),
    event(7, { type: "step-ended", ...step, outcome: "completed", note: "Step 1: swe completed" }),
    event(8, plan("✓ ", "Step 1: swe completed")),
  ]);
  expect(text).toBe(
    [
      "● The plan: Fix",
      "    [ ] [swe] Part 0",
      "    [ ] [swe] Part 1",
      "  → Step 1: swe begins",
      "    swe · search: pattern=total path=.",
      "    swe · bash cat a cat b an",
      "  ✓ Step 1: swe completed",
      "    [✓] [swe] Part 0",
      "    [ ] [swe] Part 1",
      "",
    ].join("\n"),
  );
});

test("an artifact with text is reported once, a file each time it changes", () => {
  const text: RunEvent = {
    type: "artifact-added",
    artifactId: "r/plan.md",
    name: "plan.md",
    parts: [{ type: "text", text: "x" }],
  };
  const part = { type: "file", sha256: "a", name: "a.txt", mediaType: "text/plain", size: 3 } as const;
  const file: RunEvent = { type: "artifact-added", artifactId: "r/a.txt", name: "a.txt", parts: [part] };
  const { text: shown } = show([text, file, text, file].map((one, index) => event(index + 1, one)));
  expect(shown.match(/\+ plan\.md/g)).toHaveLength(1);
  expect(shown.match(/\+ a\.txt/g)).toHaveLength(2);
});

test("branches, choices, iterations and rounds are shown in one line each, marked with their outcome", () => {
  const note = "n";
  const told: [RunEvent, string][] = [
    [{ type: "branch-begun", branch: "1", agent: "swe", note }, "→"],
    [{ type: "branch-ended", branch: "1", agent: "swe", outcome: "completed", note }, "✓"],
    [{ type: "branch-ended", branch: "2", agent: "swe", outcome: "canceled", note }, "-"],
    [{ type: "policy-settled", policy: "any of 2", met: false, reason: "none", note }, "✗"],
    [{ type: "choice-made", choice: "fix", by: "rule", reason: "a bug", note }, "·"],
    [{ type: "iteration-begun", iteration: 1, agent: "swe", note }, "→"],
    [{ type: "iteration-ended", iteration: 1, agent: "swe", outcome: "not_passed", feedback: "more", note }, "↻"],
    [{ type: "round-begun", round: 1, note }, "●"],
    [{ type: "argument-made", round: 1, argument: 1, debater: "A", agent: "swe", note }, "✓"],
    [{ type: "debater-absent", round: 1, debater: "B", agent: "swe", reason: "late", note }, "!"],
    [{ type: "round-ended", round: 1, agreed: false, reason: "they differ", note }, "·"],
    [{ type: "verdict-given", judge: "model", decision: "yes", confidence: 1, dissent: "", citations: [1], note }, "●"],
  ];
  for (const [one, mark] of told) {
    expect([one.type, show([event(1, one)]).text.trim()]).toEqual([one.type, `${mark} n`]);
  }
});

test("whatever a flow told last, its plan follows under no second heading for the same note", () => {
  const plan = { type: "plan-changed", note: "n", data: { text: "0. [ ] [swe] Part" } };
  for (const told of [
    { type: "round-begun", note: "n", data: { round: 1 } },
    { type: "verdict-given", note: "n", data: {} },
    { type: "step-ended", note: "n", data: { outcome: "blocked" } },
    { type: "step-assigned", note: "n", data: { begun: true, agent: "swe" } },
    { type: "branch-begun", note: "n", data: { begun: true } },
    { type: "choice-made", note: "n", data: {} },
  ]) {
    const before = show([event(1, told)]).text;
    expect([told.type, show([event(1, told), event(2, plan)]).text]).toEqual([
      told.type,
      `${before}    [ ] [swe] Part\n`,
    ]);
  }
  const unknown = { type: "step-ended", note: "n", data: { outcome: "toString" } };
  expect(show([event(1, unknown)]).text).toBe("  · n\n");
});

test("a debate's first round shows who argues for what", () => {
  const positions = [
    { debater: "A", agent: "manus", position: "Yes:\nit should." },
    { debater: "B", agent: "swe", position: "No." },
  ];
  const begun = { type: "round-begun", note: "Round 1: A, B", data: { round: 1, positions } };
  expect(show([event(1, begun)]).text).toBe("● Round 1: A, B\n    A (manus): Yes: it should.\n    B (swe): No.\n");
});

test("an unenforceable spending limit is reported once, however many agents report it", () => {
  const said = (n: number, agent: string, usd: string) =>
    event(n, {
      type: "agent-progressed",
      askId: `r/${n}`,
      agent,
      notice: "budget",
      text: `The spending limit of $${usd} cannot be enforced: the price of m is not known. [llm.price] sets it.`,
    });
  const { text } = show([said(1, "manus", "5"), said(2, "swe", "2.5"), said(3, "manus", "5")]);
  expect(text.match(/cannot be enforced/g)).toHaveLength(1);
});

test("each step shows the task's usage, summaries, tools and running agents included", () => {
  const priced = { ...usage, costUsd: 0.5 };
  const step = (n: number) => event(n, { type: "step-started", step: n, maxSteps: 9 });
  const asks = { askId: "r/1", agent: "swe" };
  const { text, view } = show([
    step(1),
    event(2, { type: "model-asked", callId: "a", usage: priced, model: "m", milliseconds: 1 }),
    step(2),
    event(3, { type: "context-compacted", summary: "", kept: 1, usage: priced }),
    event(3, { type: "context-compacted", summary: "", kept: 1 }),
    step(3),
    event(4, { ...replied("hm"), usage: priced, discarded: priced } as RunEvent),
    step(4),
    event(5, {
      type: "agent-progressed",
      ...asks,
      text: "ls",
      usedSoFar: { tokens: 8, outputTokens: 1, usd: 0.5, unpriced: false },
    }),
    event(5, { type: "agent-used", ...asks, usedSoFar: { tokens: 80, outputTokens: 1, usd: 1, unpriced: false } }),
    step(5),
    event(6, {
      type: "agent-answered",
      ...asks,
      state: "completed",
      files: [],
      usage: { tokens: 100, usd: 2, unpriced: false },
    }),
    step(6),
  ]);
  expect(text.split("\n").filter((line) => line.startsWith("●"))).toEqual([
    "● Turn 1 of at most 9",
    "● Turn 2 of at most 9 · 1,230 tokens · $0.5000",
    "● Turn 3 of at most 9 · 2,460 tokens · $1.00",
    "● Turn 4 of at most 9 · 4,920 tokens · $2.00",
    "● Turn 5 of at most 9 · 5,000 tokens · $3.00",
    "● Turn 6 of at most 9 · 5,020 tokens · $4.00",
  ]);
  expect(summaryText(view)).toContain(
    "4 model calls · 4,800 tokens in (4,000 cached) · 120 out · 100 by other agents · $4.00",
  );
});

test("other agents' tasks, actions, texts and answers are shown under their names, and counted", () => {
  const ask = { askId: "r/1", agent: "swe" };
  const file = { sha256: "a", name: "sums.py", mediaType: "text/x-python", size: 9 };
  const { text, view } = show([
    event(1000, { type: "agent-asked", ...ask, url: "http://swe", text: "Fix\u0007 it", parts: [], hops: 1 }),
    event(1001, { type: "agent-accepted", ...ask, taskId: "t", contextId: "c" }),
    progress({ type: "agent-output", ...ask, text: "I look.\n" }),
    event(1002, { type: "agent-progressed", ...ask, text: "bash ls" }),
    event(1003, {
      type: "agent-answered",
      ...ask,
      state: "completed",
      files: [file],
      usage: { tokens: 1_500, usd: 0.25, unpriced: false },
    }),
    event(1004, {
      type: "agent-answered",
      ...ask,
      state: "failed",
      files: [],
      error: { code: "unavailable", message: "It is away." },
    }),
  ]);
  expect(text.split("\n").map((line) => line.trim())).toEqual([
    "⇢ swe Fix\\u0007 it",
    "swe │ I look.",
    "swe · bash ls",
    "✓ swe completed · sums.py · 1,500 tokens · $0.2500",
    "✗ swe failed · It is away.",
    "",
  ]);
  expect(summaryText(view)).toContain("1,500 by other agents · $0.25");
});

test("what an asked agent's calls print is shown as it comes, each call's for itself, its open line before what follows", () => {
  const ask = { askId: "r/1", agent: "swe" };
  const output = (text: string, below: readonly string[] = []) =>
    progress({ type: "tool-output", callId: "call_1", text, askId: "r/1", below: [...below], after: 3 });
  const { text } = show([
    event(1, { type: "agent-progressed", ...ask, text: "bash make", call: "bash" }),
    output("one\ntwo"),
    output("other\n", ["s/1"]),
    event(2, { type: "agent-progressed", ...ask, text: "I wait" }),
    output(Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join("")),
    output("open"),
    event(3, { type: "agent-progressed", ...ask, text: "bash ls", call: "bash" }),
    output("three"),
    event(4, { type: "agent-answered", ...ask, state: "completed", files: [] }),
  ]);
  const lines = text.split("\n").map((line) => line.trim());
  expect(lines.slice(0, 5)).toEqual(["swe · bash make", "│ one", "│ two", "│ other", "swe · I wait"]);
  expect(lines.slice(-6)).toEqual(["│ line 8", "│ … more follows", "swe · bash ls", "│ three", "✓ swe completed", ""]);
});
