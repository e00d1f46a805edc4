import { expect, test } from "bun:test";
import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { FieldViolationsError } from "../wire-error.ts";
import { mayAnswer, mayWaitMs, meantMessage, taskOptions } from "./task-options.ts";

const under = (name: string, value: unknown) => ({ [`manyhands/${name}`]: value, "others/key": 1 });
const list = (count: number, length = 1) => Array.from({ length: count }, () => "x".repeat(length));

test.each<readonly [object | undefined, object]>([
  [undefined, { hops: 0 }],
  [{ "others/key": 1 }, { hops: 0 }],
  [under("hops", 8), { hops: 8 }],
  [
    under("budget", { steps: 1, tokens: 1, usd: 0, wallMs: 1 }),
    { hops: 0, budget: { steps: 1, tokens: 1, usd: 0, wallMs: 1 } },
  ],
  [under("budget", {}), { hops: 0, budget: {} }],
  [under("outputSchema", { type: "string" }), { hops: 0, outputSchema: { type: "string" } }],
  [under("said", list(20, 20_000)), { hops: 0, said: list(20, 20_000) }],
  [under("given", list(100, 8_000)), { hops: 0, given: list(100, 8_000) }],
  [under("takenIn", list(100, 100)), { hops: 0, takenIn: list(100, 100) }],
  [under("takenIn", []), { hops: 0, takenIn: [] }],
])("what a request says of its task is taken: %#", (metadata, options) => {
  expect(taskOptions(metadata as Record<string, unknown> | undefined)).toEqual(options as never);
});

test("a message may answer a question unless it says that it does not", () => {
  const said = [undefined, {}, under("hops", 1), under("answers", true), under("answers", false)];
  expect(said.map(mayAnswer)).toEqual([true, true, true, true, false]);
  expect(() => mayAnswer(under("answers", "no"))).toThrow(FieldViolationsError);
});

test.each([
  ["hops", -1],
  ["hops", 1.5],
  ["budget", { steps: 0 }],
  ["budget", { tokens: 0 }],
  ["budget", { usd: -0.01 }],
  ["budget", { wallMs: 0 }],
  ["budget", { calls: 1 }],
  ["outputSchema", { type: "no such type" }],
  ["outputSchema", "string"],
  ["said", list(21)],
  ["said", list(1, 20_001)],
  ["given", list(101)],
  ["given", list(1, 8_001)],
  ["takenIn", list(101)],
  ["takenIn", list(1, 101)],
])("a request is refused, by its field, for %s of another form: %#", (name, value) => {
  try {
    taskOptions(under(name, value));
    throw new Error("It was taken.");
  } catch (error) {
    expect(error).toBeInstanceOf(FieldViolationsError);
    expect((error as FieldViolationsError).violations[0]?.field).toStartWith(`manyhands/${name}`);
  }
});

test("a task passes through eight agents and no ninth", () => {
  expect(() => taskOptions(under("hops", 9))).toThrow(UnsupportedOperationError);
});

test("a caller may wait for ten seconds at most, and names a message or none", () => {
  expect([undefined, {}, under("wait", 0), under("wait", 10_000)].map(mayWaitMs)).toEqual([0, 0, 0, 10_000]);
  for (const wait of [-1, 10_001, 0.5]) expect(() => mayWaitMs(under("wait", wait))).toThrow(FieldViolationsError);
  expect([undefined, under("messageId", "m")].map(meantMessage)).toEqual([undefined, "m"]);
  for (const id of ["", "x".repeat(257)])
    expect(() => meantMessage(under("messageId", id))).toThrow(FieldViolationsError);
});
