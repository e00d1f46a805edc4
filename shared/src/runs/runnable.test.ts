import { expect, test } from "bun:test";
import { findRunnable, kindsOf, type Runnable } from "./runnable.ts";

const runnable = (type: Runnable["type"], name: string) => ({ type, name, kind: `${name}-runs` }) as Runnable;
const all = [runnable("flow", "debate"), runnable("agent", "swe"), runnable("agent", "manus")];
const here = { all: () => all, ofKind: () => undefined };
const none = { all: () => [], ofKind: () => undefined };

test("what can be run is found by its name, as what it is asked for", () => {
  expect(findRunnable(here, "swe")).toBe(all[1] as Runnable);
  expect(findRunnable(here, "swe", "agent")).toBe(all[1] as Runnable);
  expect(findRunnable(here, "debate", "flow")).toBe(all[0] as Runnable);
});

test.each([
  [here, "nobody", undefined, 'There is no flow or agent "nobody". Known: debate, swe, manus.'],
  [here, "debate", "agent", 'There is no agent "debate". Known: swe, manus.'],
  [here, "swe-runs", "flow", 'There is no flow "swe-runs". Known: debate.'],
  [none, "swe", "agent", 'There is no agent "swe". Known: none.'],
] as const)("one that is not there is refused with those that are: %#", (runnables, name, type, message) => {
  expect(() => findRunnable(runnables, name, type)).toThrow(expect.objectContaining({ code: "not_found", message }));
});

test("an agent of the same home has runs of two kinds, any other of one", () => {
  expect(kindsOf(runnable("agent", "far"))).toEqual(["far-runs"]);
  expect(kindsOf({ ...runnable("agent", "swe"), ownKind: "swe" })).toEqual(["swe-runs", "swe"]);
});
