import { expect, test } from "bun:test";
import { second, treeOf } from "../testing/run-tree-of.ts";
import type { TreeEvent } from "./api/tree-events.ts";
import { comparedRuns, isSameCall } from "./pages/compare/compared.ts";
import { changedFiles } from "./pages/run/model/changed-files.ts";
import { endOf, failureOf, isStopped, startOf, waitingFor, waitsForPerson } from "./pages/run/model/items.ts";
import { planColumns } from "./pages/run/model/plan.ts";
import { callsOf, extentOf, failureIn, hintOf, matches, rowsOf, titleIn } from "./pages/run/model/rows.ts";
import { chosenPart, panned, ticksOf, zoomed } from "./pages/run/model/zoom.ts";

const usage = { inputTokens: 90, cachedInputTokens: 60, outputTokens: 10, costUsd: 0.5, source: "provider" };
const steps = [{ id: "1", text: "Weigh it", agent: "manus", dependsOn: [], status: "in_progress" }];

const demo = () =>
  treeOf(
    ["root", { type: "plan-changed", note: "The plan", data: { steps } }],
    ["root", { type: "step-assigned", note: "go", data: { step: "1", agent: "manus", begun: true } }],
    ["root", { type: "agent-asked", askId: "a", agent: "manus", text: "You do one step", parts: [] }],
    ["root", { type: "asked", askId: "a", id: "child", name: "manus" }],
    ["child", { type: "message-received", parts: [{ type: "text", text: "You do one step" }] }],
    ["child", { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 400 }],
    ["child", { type: "tool-started", callId: "1", name: "bash", arguments: '{"command":"weigh parcel"}' }],
    ["child", { type: "tool-ended", callId: "1", name: "bash", text: "no scale", isError: true, milliseconds: 1 }],
    ["child", { type: "tool-started", callId: "2", name: "ask_human", arguments: '{"inquire":"How heavy?"}' }],
    ["child", { type: "question-asked", question: "How heavy?", kind: "question" }],
    ["root", { type: "question-asked", question: "How heavy?", kind: "question", askId: "a" }],
    ["child", { type: "message-received", parts: [{ type: "text", text: "1 kg" }] }],
    ["child", { type: "tool-ended", callId: "2", name: "ask_human", text: "1 kg", isError: false, milliseconds: 1 }],
    ["child", { type: "run-ended", status: "completed" }],
    ["root", { type: "run-ended", status: "completed" }],
  );

test("a flow's tree has the agent's run under the flow, named by its plan item, and its calls under it", () => {
  const { root } = demo();
  const rows = rowsOf(root, { folded: new Set() });
  expect(rows.map(({ item, depth }) => [depth, item.kind === "run" ? item.title : item.name])).toEqual([
    [0, ""],
    [1, "Weigh it"],
    [2, "bash"],
    [2, "ask_human"],
  ]);
  expect(rowsOf(root, { folded: new Set(["child"]) })).toHaveLength(2);
  const [call, question] = callsOf(root);
  expect(call && [failureOf(call), hintOf(call), (endOf(call) ?? 0) - startOf(call)]).toEqual([
    "no scale",
    "weigh parcel",
    1000,
  ]);
  expect(call?.reply?.event.type).toBe("model-replied");
  expect(question && failureOf(question)).toBeUndefined();
});

test("a wait for the person is a stretch of the call that asked, and of nothing else", () => {
  const { root, runs } = demo();
  const asked = callsOf(root)[1];
  expect(asked?.waits).toEqual([{ from: Date.parse(second(9)), to: Date.parse(second(11)) }]);
  expect([root.waits, runs.get("child")?.waits]).toEqual([[], []]);
});

test("tokens, cached tokens and cost add up per run, and an unknown price stays unknown", () => {
  const { runs } = demo();
  expect(runs.get("child")?.used).toEqual({ tokens: 100, input: 90, cached: 60, usd: 0.5, unpriced: false });
  const unknown = treeOf([
    "root",
    { type: "model-asked", callId: "1", usage: { ...usage, costUsd: null }, model: "m" },
  ]);
  expect(unknown.root.used.unpriced).toBe(true);
});

test("a search finds calls by arguments and results, and the axis spans all that happened", () => {
  const { root } = demo();
  const rows = rowsOf(root, { folded: new Set() });
  const found = (find: string) => rows.filter((row) => matches(row, find)).map(({ item }) => item.name);
  expect([found("PARCEL"), found("no scale"), found("nothing")]).toEqual([["bash"], ["bash"], []]);
  expect(extentOf(root, 0)).toEqual({ from: Date.parse(second(0)), to: Date.parse(second(14)) });
});

test("an agent that shows nothing of its run is a row that ends with its answer", () => {
  const { root } = treeOf(
    ["root", { type: "agent-asked", askId: "a", agent: "stranger", text: "Help", parts: [] }],
    [
      "root",
      { type: "agent-answered", askId: "a", state: "failed", files: [], error: { code: "stuck", message: "No." } },
    ],
  );
  const [only] = root.children;
  expect(only && [only.kind, only.name, failureOf(only), endOf(only)]).toEqual([
    "run",
    "stranger",
    "No.",
    Date.parse(second(1)),
  ]);
});

test("a run that only passes its task on to the agent of its name is shown as the agent's", () => {
  const { root } = treeOf(["root", { type: "asked", askId: "a", id: "child", name: "planning" }]);
  expect(rowsOf(root, { folded: new Set() }).map(({ item }) => item.key)).toEqual(["child"]);
});

test("a plan's items stand right of what they depend on, those in a circle last", () => {
  const item = (id: string, ...dependsOn: string[]) => ({
    ...{ id, dependsOn, text: id, agent: "", notes: "" },
    status: "not_started" as const,
  });
  const columns = planColumns([
    item("d", "b", "c"),
    item("a"),
    item("b", "a"),
    item("c"),
    item("x", "y"),
    item("y", "x"),
  ]);
  expect(columns.map((column) => column.map(({ id }) => id).join(" "))).toEqual(["a c", "b", "d", "x y"]);
  expect(planColumns([])).toEqual([]);
});

test("a call made again and again with the same arguments is one row, which opens and shows the chosen one", () => {
  const call = (id: string, command: string, isError = false): readonly (readonly [string, { type: string }])[] => [
    ["root", { type: "tool-started", callId: id, name: "bash", arguments: `{"command":"${command}"}` } as never],
    ["root", { type: "tool-ended", callId: id, name: "bash", text: id, isError, milliseconds: 1 } as never],
  ];
  const { root } = treeOf(...call("1", "ls"), ...call("2", "ls", true), ...call("3", "ls"), ...call("4", "pwd"));
  const folded = new Set<string>();
  const rows = rowsOf(root, { folded });
  expect(rows.map(({ item, repeats }) => [item.key, repeats?.length])).toEqual([
    ["root", undefined],
    ["root/1", 3],
    ["root/4", undefined],
  ]);
  // The row says that one of those it stands for failed, and is found by what any of them returned.
  expect(rows[1] && [failureIn(rows[1]), matches(rows[1], "3")]).toEqual(["2", true]);
  for (const open of [{ opened: new Set(["root/1"]) }, { chosen: "root/3" }]) {
    const all = rowsOf(root, { folded, ...open });
    expect(all.map(({ item, depth }) => [item.key, depth])).toEqual([
      ["root", 0],
      ["root/1", 1],
      ["root/2", 2],
      ["root/3", 2],
      ["root/4", 1],
    ]);
    expect(all[1] && failureIn(all[1])).toBeUndefined();
  }
});

test("zooming keeps a moment in its place, stays inside the run, and ends at the whole", () => {
  const whole = { from: 0, to: 1000 };
  const closer = zoomed(whole, whole, 0.5, 800);
  expect(closer).toEqual({ from: 400, to: 900 });
  // One that is out of sight comes into sight.
  expect(zoomed(closer ?? whole, whole, 0.5, 0)).toEqual({ from: 0, to: 250 });
  expect(zoomed(closer ?? whole, whole, 2, 800)).toBeUndefined();
  expect(zoomed({ from: 0, to: 20 }, whole, 0.5, 0)).toEqual({ from: 0, to: 20 });
  expect(panned({ from: 400, to: 900 }, whole, 0.5)).toEqual({ from: 500, to: 1000 });
  expect(panned({ from: 400, to: 900 }, whole, -2)).toEqual({ from: 0, to: 500 });
  expect(chosenPart(whole, 0.75, 0.25)).toEqual({ from: 250, to: 750 });
  expect(chosenPart(whole, 0.5, 0.501)).toBeUndefined();
});

test("the times of the axis are round and few, wherever the part begins and however long it is", () => {
  const shown = (from: number, to: number) => ticksOf(from, to).at;
  expect(shown(0, 691)).toEqual([0, 200, 400, 600]);
  expect(shown(0, 16_773)).toEqual([0, 5_000, 10_000, 15_000]);
  expect(shown(12_310, 12_345)).toEqual([12_310, 12_320, 12_330, 12_340]);
  expect(shown(0, 278_000)).toEqual([0, 120_000, 240_000]);
  for (let length = 20; length < 40 * 24 * 3_600_000; length *= 1.37) {
    const { at, step } = ticksOf(length / 3, length / 3 + length);
    expect([length, at.length >= 1 && at.length <= 5, step < length]).toEqual([length, true, true]);
  }
});

test("two runs are compared agent by agent: equal calls on a line, changed ones beside each other, the rest alone", () => {
  const made = (...commands: readonly (readonly [string, string])[]) =>
    treeOf(
      ...commands.flatMap(([name, argument], at): (readonly [string, { type: string }])[] => [
        ["root", { type: "tool-started", callId: `${at}`, name, arguments: argument } as never],
        ["root", { type: "tool-ended", callId: `${at}`, name, text: "ok", isError: false, milliseconds: 1 } as never],
      ]),
    );
  const a = made(["bash", "ls"], ["web_fetch", "one"], ["bash", "pwd"]);
  const b = made(["bash", "ls"], ["web_fetch", "two"], ["sql_query", "q"], ["bash", "pwd"]);
  const [whole] = comparedRuns(a, b);
  const shown = whole?.calls.map((pair) => [pair.a?.callId, pair.b?.callId, isSameCall(pair)]);
  expect(shown).toEqual([
    ["0", "0", true],
    ["1", "1", false],
    [undefined, "2", false],
    ["2", "3", true],
  ]);
  // Agents stand for each other by what they were given to do, whichever began first.
  const asking = (...agents: readonly string[]) =>
    treeOf(...agents.map((name) => ["root", { type: "asked", askId: name, id: name, name } as never] as const));
  const agents = comparedRuns(asking("manus", "swe"), asking("swe", "browser", "manus"));
  expect(agents.slice(1).map((pair) => [pair.a?.name, pair.b?.name])).toEqual([
    ["manus", "manus"],
    ["swe", "swe"],
    [undefined, "browser"],
  ]);
});

test("the files that an agent changed are those that its calls name, with the call that did it last", () => {
  const edit = (id: string, args: string, isError = false): readonly (readonly [string, { type: string }])[] => [
    ["root", { type: "tool-started", callId: id, name: "str_replace_editor", arguments: args } as never],
    ["root", { type: "tool-ended", callId: id, name: "edit", text: "", isError, milliseconds: 1 } as never],
  ];
  const { root } = treeOf(
    ...edit("1", '{"command":"view","path":"seen.py"}'),
    ...edit("2", '{"command":"create","path":"made.py","file_text":"a'),
    ...edit("3", '{"path":"made.py","command": "str_replace"}'),
    ...edit("4", '{"command":"insert","path":"failed.py"}', true),
    ...edit("5", '{"patch":"*** Begin Patch\\n*** Update File: src/a.ts\\n@@"}'),
  );
  expect([...changedFiles(root)].map(([path, { callId }]) => [path, callId])).toEqual([
    ["made.py", "3"],
    ["src/a.ts", "5"],
  ]);
});

test.each<[object | undefined, object | undefined, string | undefined]>([
  [{ status: "failed", error: { message: "its own" } }, { state: "failed", error: { message: "as told" } }, "its own"],
  [{ status: "failed" }, { state: "failed", error: { message: "as told" } }, "as told"],
  [{ status: "failed" }, undefined, ""],
  [{ status: "canceled" }, { state: "timed-out", error: { message: "too late" } }, "too late"],
  [undefined, { state: "timed-out" }, ""],
  [undefined, { state: "failed", error: { message: "as told" } }, "as told"],
  [undefined, { state: "canceled", error: { message: "as told" } }, undefined],
  [{ status: "completed" }, { state: "completed" }, undefined],
])("a run that ended with %j, of which %j was told, failed for %j", (ended, told, why) => {
  const tree = treeOf(
    ["root", { type: "agent-asked", askId: "a", agent: "swe", text: "Do it", parts: [] }],
    ["root", { type: "asked", askId: "a", id: "child", name: "swe" }],
    ...(ended ? [["child", { type: "run-ended", ...ended }] as const] : []),
    ...(told ? [["root", { type: "agent-answered", askId: "a", agent: "swe", files: [], ...told }] as const] : []),
  );
  const child = tree.runs.get("child");
  expect(child && failureOf(child)).toBe(why);
});

test("what comes again is there once, each run is below the one that asked for it, and what it used is all of it", () => {
  const asks = (askId: string, name: string) =>
    ({ type: "agent-asked", askId, agent: name, text: `Do ${askId}`, parts: [] }) as const;
  const asked = (askId: string, id: string, name: string, place = "here") => ({
    type: "asked",
    askId,
    id,
    name,
    place,
  });
  const replied = { type: "model-replied", text: "", toolCalls: [], model: "m", milliseconds: 1 };
  const started = { type: "tool-started", callId: "1", name: "bash", arguments: "{}" };
  const answered = (askId: string) => ({ type: "agent-answered", askId, agent: "x", state: "completed", files: [] });
  const tree = treeOf(
    ["root", asks("a", "swe")],
    ["root", asked("a", "child", "swe")],
    ["root", asked("a", "child", "swe")],
    ["child", { ...replied, usage: { ...usage, costUsd: null }, discarded: usage }],
    ["child", { ...replied, usage }],
    ["child", started],
    ["child", started],
    ["child", asks("b", "plain")],
    ["child", asked("b", "grand", "plain", "elsewhere")],
    ["child", asks("c", "gone")],
    ["child", answered("c")],
    ["child", { type: "run-ended", status: "completed" }],
    ["root", answered("a")],
    ["root", asks("d", "swe")],
    ["root", asked("d", "silent", "swe")],
    ["root", answered("d")],
  );
  const child = tree.runs.get("child");
  const names = (item: typeof child) => item?.children.map(({ name }) => name);
  expect([names(tree.root), names(child)]).toEqual([
    ["swe", "swe"],
    ["bash", "plain", "gone"],
  ]);
  expect(child?.used).toEqual({ tokens: 300, input: 270, cached: 180, usd: 1, unpriced: true });
  expect(tree.call("child", "1")?.reply?.seq).toBe(2);
  expect([child?.ended?.event.type, tree.runs.get("silent")?.ended?.event.type]).toEqual([
    "run-ended",
    "agent-answered",
  ]);
});

test("calls of the same stand for each other, not those of another tool or of arguments that came shortened", () => {
  const tree = treeOf();
  const call = (callId: string, name: string, more: object = {}) => {
    const event = { type: "tool-started", callId, name, arguments: "{}" };
    tree.add({ runId: "root", seq: 1, at: second(0), event, ...more } as unknown as TreeEvent);
  };
  for (const id of ["1", "2"]) call(id, "bash");
  call("3", "search");
  for (const id of ["4", "5"]) call(id, "glob", { cut: true });
  const shown = (chosen?: string) =>
    rowsOf(tree.root, { folded: new Set(), chosen }).map(({ item, repeats }) => [item.name, repeats?.length]);
  const rows = [["planning"], ["bash", 2], ["search"], ["glob"], ["glob"]];
  expect(shown()).toEqual(rows.map(([name, count]) => [name, count]) as never);
  expect(shown("root/2").map(([name]) => name)).toEqual(["planning", "bash", "bash", "search", "glob", "glob"]);
});

test("a run that goes on says whether it waits: for a person it or an agent of it asked, or for what it told last", () => {
  const asked = [
    ["root", { type: "agent-asked", askId: "a", agent: "manus", text: "do", parts: [] }],
    ["root", { type: "asked", askId: "a", id: "child", name: "manus" }],
    ["child", { type: "tool-started", callId: "1", name: "ask_human", arguments: "{}" }],
  ] as const;
  const question = ["child", { type: "question-asked", question: "How heavy?", kind: "question" }] as const;
  const answer = ["child", { type: "message-received", parts: [{ type: "text", text: "1 kg" }] }] as const;
  const waitsIn = ({ root, runs }: ReturnType<typeof treeOf>) =>
    [root, runs.get("child"), runs.get("child")?.children[0]].map((item) => item && waitsForPerson(item));
  expect(waitsIn(treeOf(...asked))).toEqual([false, false, false]);
  expect(waitsIn(treeOf(...asked, question))).toEqual([true, true, true]);
  expect(waitsIn(treeOf(...asked, question, answer))).toEqual([false, false, false]);

  const text = "The model cannot answer now. Retrying in 16 s.";
  const waiting = ["child", { type: "notice-given", kind: "waiting", text, pauseMs: 16_000 }] as const;
  const told = ["root", { type: "agent-progressed", askId: "a", agent: "manus", text, notice: "waiting" }] as const;
  const reply = [
    "child",
    { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 1 },
  ] as const;
  const waited = ({ root, runs }: ReturnType<typeof treeOf>) =>
    [root, runs.get("child")].map((item) => item && waitingFor(item));
  expect(waited(treeOf(...asked, waiting, told))).toEqual([text, text]);
  expect(waited(treeOf(...asked, waiting, told, reply))).toEqual([text, undefined]);
  expect(waited(treeOf(...asked, waiting, ["child", { type: "run-ended", status: "canceled" }]))[1]).toBeUndefined();
});

test("a call that its run's end cut off has ended with it, and neither failed nor changed a file", () => {
  const edit = JSON.stringify({ command: "create", path: "a.txt" });
  const { root } = treeOf(
    ["root", { type: "tool-started", callId: "1", name: "bash", arguments: "{}" }],
    ["root", { type: "tool-ended", callId: "1", name: "bash", text: "", isError: false, milliseconds: 1 }],
    ["root", { type: "tool-started", callId: "2", name: "str_replace_editor", arguments: edit }],
    ["root", { type: "run-ended", status: "canceled" }],
  );
  const calls = callsOf(root);
  expect(calls.map((call) => [endOf(call), isStopped(call), failureOf(call)])).toEqual([
    [Date.parse(second(1)), false, undefined],
    [Date.parse(second(3)), true, undefined],
  ]);
  expect([...changedFiles(root)]).toEqual([]);
  expect(isStopped(root)).toBe(true);
  const ask = { askId: "a", agent: "swe", text: "do", parts: [] };
  const asked = treeOf(
    ["root", { type: "agent-asked", ...ask }],
    ["root", { type: "asked", askId: "a", id: "swe", name: "swe" }],
    ["root", { type: "agent-answered", askId: "a", agent: "swe", state: "canceled", files: [] }],
  );
  expect(asked.root.children.map(isStopped)).toEqual([true]);
});

test("agents that were given the same, or their flow's own task, are told apart by name; others by what they were given", () => {
  const told = (...texts: readonly string[]) => {
    const { root } = treeOf(
      ["root", { type: "message-received", parts: [{ type: "text", text: "the task" }] }],
      ...texts.flatMap((text, at) => [
        ["root", { type: "agent-asked", askId: `${at}`, agent: `agent${at}`, text, parts: [] }] as const,
        ["root", { type: "asked", askId: `${at}`, id: `run${at}`, name: `agent${at}` }] as const,
      ]),
    );
    return rowsOf(root, { folded: new Set() }).map(titleIn);
  };
  expect(told("the task")).toEqual(["planning", "agent0"]);
  expect(told("read it", "read\nit", "write it")).toEqual(["planning", "agent0", "agent1", "write it"]);
  const long = "as long as no row of the tree has room for, which is why only its beginning tells it";
  expect(told(`${long} 1`, `${long} 2`)).toEqual(["planning", "agent0", "agent1"]);
});
