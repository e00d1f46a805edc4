import { expect, test } from "bun:test";
import { treeOf } from "../testing/run-tree-of.ts";
import { comparedRuns, isSameCall } from "./pages/compare/compared.ts";
import { planColumns, planOf } from "./pages/run/model/plan.ts";
import { hintOf, rowsOf } from "./pages/run/model/rows.ts";

type Told = readonly [string, Record<string, unknown> & { type: string }];
const replied = { type: "model-replied", text: "", toolCalls: [], model: "m", milliseconds: 1 };
const asked = (run: string, id: string, name: string, title = "x", place = "here"): Told[] => [
  [run, { type: "agent-asked", askId: `ask ${id}`, agent: name, text: title, parts: [] }],
  [run, { type: "asked", askId: `ask ${id}`, id, name, place }],
];
const called = (run: string, callId: string, given: object, text = "done"): Told[] => [
  [run, { type: "tool-started", callId, name: "bash", arguments: JSON.stringify(given) }],
  [run, { type: "tool-ended", callId, name: "bash", text, isError: false, milliseconds: 1 }],
];

test("a run that only passes its task on here is shown as the one it passed it to", () => {
  const rows = (...told: readonly Told[]) =>
    rowsOf(treeOf(...told).root, { folded: new Set() }).map(({ item, depth }) => [item.key, depth]);
  const own = asked("root", "own", "planning");
  expect(rows(...own)).toEqual([["own", 0]]);
  const both = (id: string) => [
    ["root", 0],
    [id, 1],
  ];
  expect(rows(...asked("root", "far", "planning", "x", "elsewhere"))).toEqual(both("far") as never);
  expect(rows(...asked("root", "other", "swe"))).toEqual(both("other") as never);
  expect(rows(["root", replied], ...own)).toEqual(both("own") as never);
});

test.each<[object, string]>([
  [{ command: "ls -l" }, "ls -l"],
  [{ command: "create", path: "a.md" }, "a.md"],
  [{ query: "", code: "x" }, "x"],
  [{ url: "https://a", text: "said" }, "https://a"],
  [{ command: "undo_edit", index: 1 }, ""],
])("what a call with %j is about is %j", (given, hint) => {
  const call = treeOf(...called("root", "1", given)).call("root", "1");
  expect(call && hintOf(call)).toBe(hint);
});

test("runs stand beside those that were given the same, at any depth, else beside one of their name, each once", () => {
  const a = treeOf(
    ...asked("root", "y", "swe", "Second"),
    ...asked("root", "x", "swe", "First"),
    ...asked("x", "deep", "plain", "Deep"),
    ...called("y", "1", { command: "ls" }),
  );
  const b = treeOf(
    ...asked("root", "y2", "swe", "Second"),
    ...asked("root", "z2", "swe", "Third"),
    ...asked("z2", "deep2", "plain", "Deep"),
    ...asked("root", "w2", "manus"),
    ...called("y2", "1", { command: "ls" }, "other"),
  );
  const pairs = comparedRuns(a, b);
  expect(pairs.map((pair) => [pair.a?.key, pair.b?.key])).toEqual([
    ["root", "root"],
    ["y", "y2"],
    ["x", "z2"],
    ["deep", "deep2"],
    [undefined, "w2"],
  ]);
  const calls = pairs[1]?.calls ?? [];
  expect(calls.map((pair) => [pair.a?.callId, pair.b?.callId, isSameCall(pair)])).toEqual([["1", "1", false]]);
  expect(comparedRuns(a, a)[1]?.calls.map(isSameCall)).toEqual([true]);
});

test("a plan is what its items say, as far as they are items, each right of those it depends on", () => {
  const steps = [
    { id: "a", text: "First", agent: "swe", dependsOn: ["gone"], status: "completed", notes: "n" },
    { text: 7, dependsOn: "a", status: "odd" },
    { id: "c", dependsOn: ["a", "2"], status: "blocked" },
    { id: "d", dependsOn: ["e"] },
    { id: "e", dependsOn: ["d"] },
  ];
  const plan = planOf({ type: "plan-changed", note: "", data: { steps } }) ?? [];
  expect(plan.slice(0, 3)).toEqual([
    { id: "a", text: "First", agent: "swe", dependsOn: ["gone"], status: "completed", notes: "n" },
    { id: "2", text: "", agent: "", dependsOn: [], status: "not_started", notes: "" },
    { id: "c", text: "", agent: "", dependsOn: ["a", "2"], status: "blocked", notes: "" },
  ]);
  expect(planColumns(plan).map((column) => column.map(({ id }) => id))).toEqual([["a", "2"], ["c"], ["d", "e"]]);
  expect(planOf({ type: "other", note: "", data: { steps } })).toBeUndefined();
});
