import { expect, test } from "bun:test";
import { entryForTest, flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import { paperFile, paperFlow } from "../testing/paper-flow.ts";
import { marksOf, plan, plannerForTest, promptOf, revision } from "../testing/planner.ts";
import { createBoard } from "./board.ts";
import { conclude } from "./conclude.ts";
import { planning } from "./planning.ts";
import { resultsText, type StepResult } from "./step-result.ts";
import { notStarted } from "./work-step.ts";

const says = (text: string) => () => ({ text });
const writes = (path: string, text: string) => (_: unknown, n: number) =>
  n === 0
    ? { calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: text } }] }
    : { text: `wrote ${path}` };

test("steps that hand over their files are checked together at the end, in the request that writes the answer", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: writes("a.csv", "1,2"), two: writes("b.csv", "3"), three: writes("c.md", "# Sums") },
    model: plannerForTest({
      plans: [
        plan(
          { id: "a", text: "Collect", agent: "one", delivers: ["a.csv"], expected: "two numbers" },
          { id: "b", text: "Add", agent: "two", delivers: ["b.csv"], depends_on: ["a"] },
          { id: "c", text: "Write", agent: "three", delivers: ["c.md"], depends_on: ["b"] },
        ),
      ],
      report: says("3, see c.md"),
    }),
  });
  const { answer, events } = await flow.run({ text: "Add the numbers" });
  expect(answer).toBe("3, see c.md");
  expect(flow.model.requests).toHaveLength(2);
  const end = promptOf(flow.model.requests[1]?.body ?? { model: "", messages: [] });
  for (const part of ["- a: two numbers\n- b: what the step says", '<file name="a.csv" bytes="3">\n1,2', "# Sums"])
    expect(end).toContain(part);
  expect(flowEvents(events, "step-ended")).toMatchObject([
    { step: "a", evidence: "Handed over: a.csv" },
    { step: "b" },
    { step: "c" },
  ]);
});

test("a step that others build on, and that no file shows to be done, is checked before they begin", async () => {
  await using flow = await flowForTest(planning, {
    agents: { one: says("I will look"), two: says("built") },
    model: plannerForTest({
      plans: [
        plan({ id: "a", text: "Find", agent: "one" }, { id: "b", text: "Build", agent: "two", depends_on: ["a"] }),
        revision("impossible"),
      ],
      check: () => ({ verdict: "not_met", evidence: "", reason: "nothing was found" }),
    }),
  });
  const { record } = await flow.run({ text: "Go", options: { attempts: 1 } });
  expect(record.status).toBe("failed");
  expect(await flow.agent("two").tasks()).toEqual([]);
});

test("a step that is found not done at the end is planned anew, and the task fails with the reason if it stays so", async () => {
  const both = plan({ id: "a", text: "Draw", agent: "one" }, { id: "b", text: "Write", agent: "two" });
  const notDone = (text: string) =>
    text.includes("Step c by one, completed") ? [] : [{ step: "b", reason: "it only promises" }];
  const revised: string[] = [];
  await using flow = await flowForTest(planning, {
    agents: { one: says("drawn"), two: says("I will write") },
    model: plannerForTest({
      plans: [
        both,
        (text) => {
          revised.push(text);
          return revision("continue", { id: "c", text: "Write it now", agent: "one" });
        },
        both,
      ],
      notDone,
      report: says("all is there"),
    }),
  });
  const { answer, events } = await flow.run({ text: "Draw and write" });
  expect(answer).toBe("all is there");
  expect(revised[0]).toContain("Why it is not done: it only promises");
  const ended = flowEvents(events, "step-ended").map(({ step, outcome }) => `${step} ${outcome}`);
  expect(ended.slice(2)).toEqual(["b failed", "c completed"]);
  expect(marksOf(events)).toContain("✓Draw|!Write");
  const { record } = await flow.run({ text: "Draw and write", options: { replans: 0 } });
  expect(record.error).toMatchObject({
    code: "task_failed",
    message: "The task was not done. Step b (two): it only promises",
  });
});

test("an end that says nothing, names an unknown step or finds nothing missing is asked for again", async () => {
  const replies: ScriptedReply[] = [
    { text: " " },
    { calls: [{ name: "check_task", args: { not_done: [{ step: "z", reason: "?" }] } }] },
    { text: "the answer" },
    { calls: [{ name: "check_task", args: { missing: [] } }] },
    { text: '{"missing": [{"what": "the sum", "reason": "nobody added"}]}' },
    { text: "a partial report" },
  ];
  const steps = plan({ id: "a", text: "A", agent: "one" }, { id: "b", text: "B", agent: "one" });
  const asked: string[] = [];
  await using flow = await flowForTest(planning, {
    agents: { one: says("done") },
    model: plannerForTest({
      plans: [steps, steps],
      report(text) {
        asked.push(text);
        return replies.shift() ?? { text: "too many" };
      },
    }),
  });
  expect((await flow.run({ text: "Go" })).answer).toBe("the answer");
  expect(asked[1]).toContain("Write the text, or call check_task.");
  expect(asked[2]).toContain("There is no step z, only a, b.");
  const { record } = await flow.run({ text: "Go", options: { replans: 0 } });
  expect(asked[4]).toContain("If nothing is missing, write the final answer.");
  expect(record.error?.message).toBe("The task was not done. Missing: the sum: nobody added");
});

test("who ends a task sees of the steps that nobody checked what was expected, their calls and files, those to deliver first", async () => {
  const result = (id: string, changes: Partial<StepResult>, about: Partial<StepResult["step"]> = {}): StepResult => ({
    ...notStarted({ id, text: `do ${id}`, agent: "one", dependsOn: [], expected: "", delivers: [], ...about }),
    ...{ outcome: "completed", answer: `did ${id}` },
    ...changes,
  });
  const made = { count: 1, calls: [{ name: "bash", arguments: "ls", outcome: "done", result: "" }] } as const;
  const results = [
    result("a", { files: [paperFile("notes.txt"), paperFile("a.csv")], made }, { delivers: ["a.csv"] }),
    result("b", { isChecked: true, evidence: "seen", files: [paperFile("b.csv")], made }, { expected: "b is there" }),
    result("c", { made: { count: 0, calls: [] } }, { expected: "c is told" }),
    result("d", { outcome: "failed", reason: "no paper", files: [paperFile("d.csv")], made }),
  ];
  const given = { type: "file", ...paperFile("in.csv") } as const;
  const goal = "From in.csv make a.csv, b.csv and e.csv";
  const { flow, shown } = paperFlow({ goal, files: [given] }, { written: ["All of it"] });
  expect(await conclude(flow, "The task", results, createBoard())).toMatchObject({ report: { answer: "All of it" } });
  expect(shown.writings[0]).toMatchObject({ name: "report", isAnswer: true });
  expect(shown.writings[0]?.text).toBe(
    [
      "The task:\nThe task",
      `What came of the steps:\n\n${resultsText(results)}`,
      "Steps that nobody has checked, and what was expected:\n- a: what the step says\n- c: c is told",
      "Step a. The calls that were made, by the record and not by the report:\n<calls>\nbash ls → done\n</calls>",
      "Step c. No tool was called: whatever the report says was done by a tool was not.",
      '<file name="a.csv" bytes="5">\na.csv\n</file>',
      '<file name="notes.txt" bytes="9">\nnotes.txt\n</file>',
      "Files that the task names and nobody handed over: e.csv",
    ].join("\n\n"),
  );
  const [only] = results as [StepResult];
  await conclude(flow, "The task", [only], createBoard());
  expect(shown.writings).toHaveLength(2);
  await conclude(flow, "The task", [{ ...only, isChecked: true }], createBoard());
  expect(shown.writings).toHaveLength(2);
});

test("a step that is found not done shows nothing for it any more; what nobody checked is not told as checked", async () => {
  const step = { id: "a", text: "Do a", agent: "one", dependsOn: [], expected: "", delivers: [] };
  const result: StepResult = { ...notStarted(step), outcome: "completed", answer: "done", evidence: "Handed over: a" };
  const value = { not_done: [{ step: "a", reason: "it is empty" }], missing: [] };
  const { flow } = paperFlow({ writeOrDecide: (async () => ({ value })) as never });
  const end = await conclude(flow, "The task", [result], createBoard());
  expect(end).toMatchObject({ results: [{ outcome: "failed", evidence: "", reason: "it is empty", isChecked: true }] });
  expect(resultsText([result])).not.toContain("Checked:");
  expect(resultsText([{ ...result, isChecked: true }])).toContain("Checked: Handed over: a");
});

test("a plan has as many steps as the caller allows", async () => {
  const one = entryForTest("one", "http://a");
  const { flow, shown } = paperFlow({ agents: [one] }, { decided: [] });
  const options = { approve: false, concurrency: 1, attempts: 1, replans: 0, maxSteps: 1 };
  await planning.perform(flow, options).catch(() => undefined);
  const steps = ["a", "b"].map((id) => ({ id, text: id, agent: "one", depends_on: [], expected: "", delivers: [] }));
  const check = shown.decisions[0]?.check;
  expect(check?.({ steps })).toBe("The plan has 2 steps; 1 is the most.");
  expect(check?.({ steps: steps.slice(1) })).toBeUndefined();
});
