import { expect, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import type { RunEvent, StepContext } from "../../core/runs/run.ts";
import type { TaskUpdate } from "../client/task-update.ts";
import type { Ask } from "./ask.ts";
import { remoteNotes, type ToldLines } from "./notes.ts";

function notesOf({ isAnswer = false, before = { told: 0 } as ToldLines, after = 0 } = {}) {
  const emitted: RunEvent[] = [];
  const live: RunEvent[] = [];
  const step = {
    emit: (event: RunEvent) => emitted.push(event),
    progress: (event: RunEvent) => live.push(event),
  } as unknown as StepContext;
  const ask = { askId: "a", agent: { name: "swe", url: "" }, isAnswer } as unknown as Ask;
  return { notes: remoteNotes(ask, { ...before, after }, step), emitted, live };
}
const lines = (events: readonly RunEvent[]) => events.map(({ text }) => text);
const delta = (text: string, at?: number): TaskUpdate => ({
  kind: "progress",
  progress: { type: "text-delta", text, ...(at !== undefined && { at }) },
});
const status = (text: string, event?: RunEvent, tokens?: number): TaskUpdate => ({
  kind: "status",
  state: TaskState.TASK_STATE_WORKING,
  text,
  ...(tokens !== undefined && { usage: { tokens, usd: 0, unpriced: false } }),
  ...(event && { journal: { at: 0, event } }),
});
const notice = { type: "notice-given", kind: "budget", text: "x" };
const step = { type: "step-started", step: 1, maxSteps: 2 };
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" };
const replied = (...names: readonly string[]) => ({
  type: "model-replied",
  text: "whole",
  toolCalls: names.map((name) => ({ id: name, name, arguments: "{}" })),
  usage,
  model: "m",
  milliseconds: 1,
});

test("a line is told once in a row, also over two steps, and of a hundred the last says where the others are", () => {
  const { notes, emitted } = notesOf({ before: { told: 97, line: "a" } });
  for (const text of ["a", " ", "b", "b\n", "a", "c", "d"]) notes.say(text);
  const last = "What swe does from here on is told by its own run only.";
  expect(lines(emitted)).toEqual(["b", "a", last]);
  expect(notes.told()).toEqual({ told: 100, line: last });
  expect(notesOf().notes.told()).toEqual({ told: 0 });
});

test("events that tell something are lines, with what the task had used by then; others are none", () => {
  const { notes, emitted } = notesOf();
  notes.take(status("first", notice));
  notes.take(status("not told", step, 30));
  notes.take(status("no event"));
  notes.take(status("second", notice));
  notes.take(status("third", notice, 50));
  expect(lines(emitted)).toEqual(["first", "second", "third"]);
  const used = (tokens: number) => ({ tokens, usd: 0, unpriced: false });
  expect(emitted.map(({ usedSoFar }) => usedSoFar)).toEqual([undefined, used(30), used(50)]);
});

test("usage that no line has told is reported by itself, once", () => {
  const { notes, emitted } = notesOf({ before: { told: 100, used: { tokens: 30, usd: 0, unpriced: false } } });
  notes.count(undefined);
  notes.tellUsage();
  notes.take(status("one line too many", notice, 30));
  notes.tellUsage();
  expect(emitted).toEqual([]);
  const usedSoFar = { tokens: 50, usd: 0, unpriced: false };
  notes.count(usedSoFar);
  notes.tellUsage();
  notes.tellUsage();
  expect(emitted).toEqual([{ type: "agent-used", askId: "a", agent: "swe", usedSoFar }]);
  expect(notes.told()).toEqual({ told: 100, used: usedSoFar });
});

test("live text is shown in whole lines, a long one in pieces, blank ones never", () => {
  const { notes, live } = notesOf();
  for (const text of ["one\ntw", "o\n", "\n \n", "x".repeat(400), "y", "rest"]) notes.take(delta(text));
  expect(lines(live.filter(({ type }) => type === "agent-output"))).toEqual(["one\n", "two\n", `${"x".repeat(400)}y`]);
});

test("no more live text is shown than two hundred thousand characters of a step", () => {
  const { notes, live } = notesOf();
  for (let n = 0; n < 4; n++) notes.take(delta("x".repeat(50_000)));
  notes.take(delta("y\n"));
  expect(live).toHaveLength(4);
});

test.each([true, false])(
  "text with its place is passed on as it is written, as the answer of the asker's run: %p",
  (isAnswer) => {
    const { notes, live } = notesOf({ isAnswer });
    notes.take(delta("It", 0));
    notes.take(status("", replied()));
    notes.take(status("", replied("bash")));
    const whose = { askId: "a", ...(isAnswer && { isAnswer }) };
    expect(live).toEqual([
      { type: "agent-writing", ...whose, text: "It", at: 0 },
      { type: "agent-written", ...whose, text: "whole" },
      { type: "agent-written", ...whose, text: "whole", isThought: true },
    ]);
  },
);

test("what calls print is passed on with the way to them and their place, as long as live text is", () => {
  const { notes, live } = notesOf({ after: 4 });
  const output = (text: string, more: object = {}): TaskUpdate => ({
    kind: "progress",
    progress: { type: "tool-output", callId: "c", text, ...more },
  });
  notes.take(output("one"));
  notes.take({ ...status("", step), seq: 6 } as TaskUpdate);
  notes.take(output("two\n"));
  notes.take(output("three", { askId: "b", below: ["d"], after: 9 }));
  notes.take(output("x".repeat(200_000)));
  const told = { type: "tool-output", callId: "c", askId: "a" };
  expect(live.slice(0, 3)).toEqual([
    { ...told, text: "one", after: 4 },
    { ...told, text: "two\n", after: 6 },
    { ...told, text: "three", below: ["b", "d"], after: 9 },
  ]);
  expect(live).toHaveLength(3);
});
