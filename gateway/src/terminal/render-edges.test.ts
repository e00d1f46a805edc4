import { expect, test } from "bun:test";
import type { Progress } from "manyhands/internal/core/events/progress";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { ShownState, TaskItem } from "../tasks/task-item.ts";
import { render, summaryText } from "./render.ts";
import { safeLine, safeText } from "./safe-text.ts";
import { newView } from "./terminal-view.ts";

const style = { color: false, columns: 60 };
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0, source: "provider" } as const;

const happened = (event: object, at = 1): TaskItem => ({
  kind: "event",
  seq: at,
  at,
  event: readEvent(event as Parameters<typeof readEvent>[0]),
});
const progress = (event: Progress): TaskItem => ({ kind: "progress", event });
const stands = (state: ShownState, text?: string, at?: number): TaskItem => ({
  kind: "state",
  taskId: "t",
  contextId: "c",
  state,
  ...(text !== undefined && { text }),
  ...(at !== undefined && { at }),
});
const replied = (text: string) =>
  happened({ type: "model-replied", text, toolCalls: [], usage, model: "m", milliseconds: 0 });
const delta = (text: string) => progress({ type: "text-delta", text });
const reasons = (text: string) => progress({ type: "reasoning-delta", text });
const started = (callId = "a") => happened({ type: "tool-started", callId, name: "x", arguments: "{}" });
const ended = (text: string, more: object = {}) =>
  happened({ type: "tool-ended", callId: "a", name: "x", text, isError: false, milliseconds: 0, ...more });
const output = (text: string, callId = "a") => progress({ type: "tool-output", callId, text });
const answer = (...parts: object[]) =>
  happened({ type: "artifact-added", artifactId: "answer", name: "answer", parts });
const text = (words: string) => ({ type: "text", text: words });

function show(...items: readonly TaskItem[]) {
  let view = newView;
  let shown = "";
  for (const item of items) {
    const next = render(view, item, style);
    view = next.view;
    shown += next.text;
  }
  return { text: shown, view };
}

const lineCount = 12;
const manyLines = (count: number) => Array.from({ length: count }, (_, n) => `l${n}\n`).join("");
const facts = "  · m · 1 in, 1 out · 0.0 s\n";

test.each<[string, readonly TaskItem[], string]>([
  ["a question is shown once", [stands("input-required", "Q"), stands("input-required", "Q")], "? Q\n"],
  ["a new question too", [stands("input-required", "Q"), stands("auth-required", "R")], "? Q\n? R\n"],
  [
    "what an agent says while it works",
    [stands("working", "at it"), stands("working", "at it")],
    "  · at it\n  · at it\n",
  ],
  ["how a task ends is told elsewhere", [stands("completed", "T"), stands("failed", "T"), stands("working")], ""],
  [
    "an answer that was void and not streamed again is shown whole",
    [delta("Half"), progress({ type: "deltas-void", cause: "c" }), replied("Whole")],
    `  Half\n  (retrying: c)\n  Whole\n${facts}`,
  ],
  [
    "each answer that was not streamed is shown",
    [delta("a"), replied("a"), replied(" b\n")],
    `  a\n${facts}  b\n${facts}`,
  ],
  [
    "what a broken-off turn streamed says nothing of the next",
    [delta("a"), happened({ type: "step-started", step: 2, maxSteps: 3 }), replied("b")],
    `  a\n● Turn 2 of at most 3\n  b\n${facts}`,
  ],
  ["an answer of blanks is no lines", [replied(" \n ")], facts],
  ["an answer without text is not shown", [answer(), answer(text(" ")), answer({ type: "data", data: 1 })], ""],
  [
    "an answer that was the last words is not shown again",
    [replied("Done. "), answer(text(" Done."))],
    `  Done.\n${facts}`,
  ],
  ["another answer is", [replied("Done."), answer(text("Yes."), text("No."))], `  Done.\n${facts}\n  Yes.\n  No.\n`],
  [
    "reasoning within a line of text begins its own",
    [delta("a"), reasons("b"), reasons("\n\nc"), delta("d\n"), delta("e")],
    "  a\n  b\n\n  c\n  d\n  e",
  ],
  ["two lines of a result are all of it", [started(), ended("a\n\n \nb")], "  → x \n    ✓ 0.0 s  a\n      b\n"],
  ["the rest of a result is counted", [started(), ended("a\nb\nc\nd")], "  → x \n    ✓ 0.0 s  a\n      b (+2 lines)\n"],
  [
    "a result that was shown live is not shown again",
    [started(), output("a\n"), ended("a")],
    "  → x \n    │ a\n    ✓ 0.0 s\n",
  ],
  [
    "an error is, shown live or not",
    [started(), output("a\n"), ended("why", { isError: true })],
    "  → x \n    │ a\n    ✗ 0.0 s  why\n",
  ],
  [
    "of two calls at once each result is shown",
    [started(), started("b"), output("a\n"), ended("a"), ended("b")],
    "  → x \n  → x \n    │ a\n    ✓ x 0.0 s  a\n    ✓ 0.0 s  b\n",
  ],
  [
    "ends without a beginning are not counted",
    [ended("a"), ended("b"), started(), ended("c")],
    "    ✓ 0.0 s  a\n    ✓ 0.0 s  b\n  → x \n    ✓ 0.0 s  c\n",
  ],
  [
    "an error of the planning tool is one, also if it quotes a plan",
    [ended("0. [ ] Look", { name: "planning", isError: true })],
    "    ✗ 0.0 s  0. [ ] Look\n",
  ],
  ["another tool's plan is a result like any", [ended("0. [ ] Look")], "    ✓ 0.0 s  0. [ ] Look\n"],
  [
    "an agent is named again when it is asked again",
    [
      happened({ type: "step-assigned", note: "n", data: { begun: true, agent: "swe" } }),
      happened({ type: "agent-asked", askId: "1", agent: "swe", url: "u", text: "one", parts: [], hops: 1 }),
      happened({ type: "agent-asked", askId: "2", agent: "swe", url: "u", text: "two", parts: [], hops: 1 }),
    ],
    "  → n\n  ⇢ swe two\n",
  ],
  [
    "that an agent ends is in its answer",
    [
      happened({ type: "agent-progressed", askId: "1", agent: "swe", text: "terminate {}", call: "terminate" }),
      happened({ type: "agent-progressed", askId: "1", agent: "swe", text: "terminate it, I say" }),
    ],
    "    swe · terminate it, I say\n",
  ],
])("%s", (_, items, shown) => {
  const trimmed = (lines: string) => lines.replaceAll(/ +$/gm, "");
  expect(trimmed(show(...items).text)).toBe(trimmed(shown));
});

test("live output is cut where there is more than its share, and each call has its own", () => {
  const marked = (shown: string) => shown.split("\n").filter((line) => line.includes("│"));
  expect(marked(show(started(), output(manyLines(lineCount))).text)).toHaveLength(lineCount);
  const cut = show(started(), output(manyLines(lineCount - 1)), output(manyLines(5)), output(manyLines(5)));
  expect(marked(cut.text)).toHaveLength(lineCount + 1);
  expect(cut.text.match(/more follows/g)).toHaveLength(1);
  const next = show(started(), output(manyLines(20)), ended("x"), started("b"), output("of b\n", "b"));
  expect(marked(next.text).at(-1)).toBe("    │ of b");
});

test("a task's time runs from its first event to its last, or to when it stood where it stands", () => {
  const at = (milliseconds: number) => happened({ type: "run-resumed" }, milliseconds);
  const timeOf = (...items: readonly TaskItem[]) => summaryText(show(...items).view).split(" · ")[0];
  expect(timeOf(at(1_000), at(2_000), stands("completed", undefined, 5_000))).toBe("4.0 s");
  expect(timeOf(at(1_000), at(2_000), stands("completed", undefined, 500))).toBe("1.0 s");
  expect(timeOf(at(1_000), at(2_000), stands("completed"))).toBe("1.0 s");
  expect(timeOf(stands("completed", undefined, 5_000))).toBe("0 model calls");
});

test("whoever speaks, no line of theirs is wider than the terminal", () => {
  const long = "word ".repeat(100);
  const peer = { askId: "1", agent: "a".repeat(50) };
  const shown = show(
    stands("working", long),
    progress({ type: "deltas-void", cause: long }),
    progress({ type: "agent-output", ...peer, text: `\t\t${long}` }),
    output(`\t\t${" ".repeat(60)}${long}\n`),
    happened({ type: "notice-given", kind: "stuck", text: long }),
    happened({ type: "agent-asked", ...peer, url: "u", text: long, parts: [], hops: 1 }),
    happened({ type: "agent-progressed", ...peer, text: long }),
    happened({
      type: "agent-answered",
      ...peer,
      state: "failed",
      files: [],
      error: { code: "internal", message: long },
    }),
    happened({ type: "plan-changed", note: long, data: { text: `0. [→] ${long}` } }),
    happened({ type: "step-ended", note: long, data: { outcome: "failed" } }),
    happened({ type: "choice-made", note: long, data: {} }),
    happened({
      type: "round-begun",
      note: long,
      data: { positions: [{ debater: "A", agent: "swe", position: long }] },
    }),
    happened({ type: "model-replied", text: "", toolCalls: [], usage, model: long, milliseconds: 0 }),
    started(),
    started("b"),
    ended(`${long}\n${long}\nmore`, { name: "n".repeat(50) }),
  ).text;
  const lines = shown.split("\n").filter((line) => line.includes("…"));
  expect(lines.length).toBeGreaterThanOrEqual(15);
  for (const line of lines.filter((one) => !one.startsWith("  · ")))
    expect([Bun.stringWidth(line) <= 60, line]).toEqual([true, line]);
});

test("a line is cut only where it is too wide, by what it takes on the screen", () => {
  expect(safeLine("abcde", 5)).toBe("abcde");
  expect(safeLine("abcdef", 5)).toBe("abcd…");
  expect(safeLine(" a\n\tb ", 5)).toBe("a b");
  expect(safeLine("日本日本", 7)).toBe("日本日…");
  expect(safeLine("日本日本", 6)).toBe("日本…");
  expect(safeText("a\r\nb")).toBe("a\nb");
});

test("that a call is allowed for the whole task is said with it, and that a limit cannot be kept once", () => {
  const shown = (...items: readonly TaskItem[]) => {
    let view = newView;
    const texts: string[] = [];
    for (const item of items) {
      const next = render(view, item, style);
      view = next.view;
      texts.push(next.text);
    }
    return texts;
  };
  const begun = { type: "tool-started", callId: "1", name: "bash", arguments: "{}", forTask: "commands" };
  expect(shown(happened(begun))[0]).toContain("! allowed for this task: commands");
  const told = { type: "agent-progressed", askId: "a", agent: "swe", text: "The limit cannot be kept." };
  const limit = happened({ ...told, notice: "budget" });
  const texts = shown(limit, happened({ ...told, text: "At it." }), limit);
  expect(texts.map((text) => text.includes("limit cannot be kept"))).toEqual([true, false, false]);
});
