import { expect, test } from "bun:test";
import type { RunEvent } from "../core/runs/run.ts";
import { createRelayedOutput } from "./relayed-output.ts";

const progress = (runId: string, event: RunEvent) => ({ kind: "progress" as const, runId, event });
const output = (text: string, more: object = {}) => ({ type: "tool-output", callId: "c", text, ...more });
const stored = (runId: string, seq: number, type = "step-started", more: object = {}) => ({
  ...{ kind: "event" as const, runId, seq, at: 0, event: { type, ...more } },
});
const texts = (items: readonly { readonly runId: string; readonly event: RunEvent }[]) =>
  items.map(({ runId, event }) => `${runId} ${event.text}`);

/** The root asked for `mid`, and that for `low`, of which the reader has two events. */
function family() {
  const relayed = createRelayedOutput();
  relayed.accepted("root", "r/1", "mid", 0);
  relayed.accepted("mid", "m/1", "low", 2);
  const pass = (from: string, text: string, more: object) => relayed.takes(progress(from, output(text, more)));
  return { relayed, pass };
}

test("what is passed on is shown below the run that makes the call, between the events where it belongs", () => {
  const { relayed, pass } = family();
  expect(pass("root", "late", { askId: "r/1", below: ["m/1"], after: 1 })).toBe(true);
  pass("root", "now", { askId: "r/1", below: ["m/1"], after: 2 });
  pass("root", "soon", { askId: "r/1", below: ["m/1"], after: 3 });
  pass("root", "of the one between", { askId: "r/1", after: 0 });
  expect(texts(relayed.now()).toSorted()).toEqual(["low now", "mid of the one between"]);
  expect(texts(relayed.before(stored("low", 3)))).toEqual([]);
  expect(texts(relayed.before(stored("low", 4)))).toEqual(["low soon"]);
  expect(texts(relayed.now())).toEqual([]);
});

test("it waits for the ask that leads to it, and says nothing of runs to which none leads", () => {
  const { relayed, pass } = family();
  pass("mid", "of another's ask", { askId: "r/1", after: 0 });
  pass("root", "not yet", { askId: "r/2", after: 0 });
  expect(texts(relayed.now())).toEqual([]);
  relayed.accepted("root", "r/2", "other", 0);
  expect(texts(relayed.now())).toEqual(["other not yet"]);
});

test("a call's output is shown once, however many tell of it, and the next call's again", () => {
  const { relayed, pass } = family();
  const way = { askId: "r/1", below: ["m/1"], after: 2 };
  pass("root", "one", way);
  pass("mid", "one", { askId: "m/1", after: 2 });
  expect(texts(relayed.now())).toEqual(["low one"]);
  expect(relayed.takes(progress("low", output("one")))).toBe(true);
  relayed.before(stored("low", 3, "tool-ended", { callId: "c" }));
  expect(relayed.takes(progress("low", output("two")))).toBe(false);
  pass("root", "two", { ...way, after: 3 });
  expect(texts(relayed.now())).toEqual([]);
  expect(relayed.takes(progress("low", { type: "text-delta", text: "words" }))).toBe(false);
});

test("no more than a thousand pieces wait, and the newest of them", () => {
  const { relayed, pass } = family();
  for (let n = 0; n < 1001; n++) pass("root", `${n}`, { askId: "r/1", after: 5 });
  const shown = texts(relayed.before(stored("mid", 6)));
  expect([shown.length, shown[0], shown.at(-1)]).toEqual([1000, "mid 1", "mid 1000"]);
});
