import { expect, test } from "bun:test";
import { AppError } from "manyhands";
import { paperAnswer, paperFile, paperFlow, paperStep as step } from "../testing/paper-flow.ts";
import type { Board } from "./board.ts";
import { runSteps } from "./run-steps.ts";
import type { StepResult } from "./step-result.ts";
import type { TaskStep } from "./task-plan.ts";
import { notStarted, workStep } from "./work-step.ts";

const options = {
  goal: "The whole",
  attempts: 2,
  stepDeadlineMs: undefined,
  isWhole: false,
  isCheckedAtOnce: () => false,
  continues: undefined,
};
const failed = (message: string) => paperAnswer("", { state: "failed", error: { code: "task_failed", message } });

type Answers = Parameters<typeof paperFlow>[1];
type Changes = Parameters<typeof paperFlow>[0];

/** Has a step done by agents that answer so, and notes what its board is told. */
async function work(answers: Answers, changes: Changes = {}, over: Partial<Parameters<typeof workStep>[4]> = {}) {
  const { flow, shown } = paperFlow(changes, answers);
  const marks: unknown[][] = [];
  const board = { mark: (_, ...mark) => void marks.push(mark) } as Board;
  const worked = workStep(flow, step("z"), [], board, { ...options, ...over });
  return { worked: await worked.catch((error: unknown) => error), shown, marks };
}

test("a step that stands for itself is told no more than its text and the task", async () => {
  const { shown } = await work({ asked: [paperAnswer("so")] });
  expect(
    shown.asks[0]?.text,
  ).toBe(`You do one step of a larger task. Do this step and no more, then report what you did and found.

Your step: do z

The whole task, so that you know what it is for:
> The whole`);
});

test("each attempt is told as it begins and ends, and the board has how the step stands", async () => {
  const made = paperAnswer("so", { files: [paperFile("a.csv"), paperFile("b.csv")], data: { n: 1 }, taskId: "t2" });
  const { worked, shown, marks } = await work({ asked: [failed("no\npaper"), made] });
  const [first, second] = [`one failed: no\npaper`, "Handed over: a.csv, b.csv"];
  const about = { step: "z", agent: "one" };
  expect(shown.told).toEqual([
    {
      type: "step-assigned",
      note: "Step z: one begins: do z",
      data: { ...about, attempt: 1, begun: true },
    },
    {
      type: "step-ended",
      note: `Step z: one failed: ${first}`,
      data: { ...about, attempt: 1, outcome: "failed", reason: first },
    },
    {
      type: "step-assigned",
      note: "Step z, attempt 2: one begins: do z",
      data: { ...about, attempt: 2, begun: true },
    },
    {
      type: "step-ended",
      note: `Step z: one completed: ${second}`,
      data: { ...about, attempt: 2, outcome: "completed", evidence: second },
    },
  ]);
  expect(marks).toEqual([
    ["z", "in_progress", "", "Step z: one begins: do z"],
    ["z", "in_progress", "", "Step z, attempt 2: one begins: do z"],
    ["z", "completed", second, `Step z: one completed: ${second}`],
  ]);
  expect(worked).toMatchObject({ outcome: "completed", attempts: 2, data: { n: 1 }, taskId: "t2", goal: "The whole" });
});

test("the board has why a step is blocked, in one line that is not long", async () => {
  const { marks } = await work({ asked: [failed(`a\n\n b${"x".repeat(300)}`)] }, {}, { attempts: 1 });
  expect(marks.at(-1)?.slice(0, 3)).toEqual(["z", "blocked", `one failed: a b${"x".repeat(300)}`.slice(0, 200)]);
});

test("a limit of the whole flow blocks the step, keeps what it had made, and is passed on; a bug is not a result", async () => {
  const limit = new AppError("token_limit", "Too many tokens.");
  const asks = [
    () => paperAnswer("half", { state: "failed", files: [paperFile("a.csv")] }),
    () => Promise.reject(limit),
  ];
  const { worked, marks } = await work({}, { ask: async () => (await asks.shift()?.()) as never });
  expect(worked).toMatchObject({ outcome: "blocked", reason: "Too many tokens.", attempts: 2, fatal: limit });
  expect(worked).toMatchObject({ answer: "half", files: [paperFile("a.csv")], contextId: "c" });
  expect(marks.at(-1)?.slice(0, 3)).toEqual(["z", "blocked", "Too many tokens."]);
  const bug = new TypeError("a bug");
  expect((await work({}, { ask: () => Promise.reject(bug) })).worked).toBe(bug);
});

test.each([
  ["task_failed", { outcome: "failed", reason: "It could not be checked. No verdict.", isChecked: false }],
  ["token_limit", { outcome: "blocked", reason: "No verdict.", isChecked: false }],
] as const)("a step whose check ends with %s is not done", async (code, result) => {
  const decide = () => Promise.reject(new AppError(code, "No verdict."));
  const { worked } = await work(
    { asked: [paperAnswer("so"), paperAnswer("so")] },
    { decide },
    { isCheckedAtOnce: () => true },
  );
  expect(worked).toMatchObject(result);
});

test("only a step that is the whole plan is held against the whole task", async () => {
  const verdict = { verdict: "met", evidence: "x", reason: "" };
  const { shown } = await work({ asked: [paperAnswer("so")], decided: [verdict] }, {}, { isCheckedAtOnce: () => true });
  expect(shown.decisions[0]?.text).not.toContain("The whole");
});

test("an attempt that names no conversation leaves the step in the one before", async () => {
  const lost = paperAnswer("", { state: "failed", contextId: "" });
  const { shown, worked } = await work({ asked: [failed("no"), lost, lost] }, {}, { attempts: 3 });
  expect(shown.asks.map(({ options }) => options.contextId)).toEqual([undefined, "c", "c"]);
  expect(worked).toMatchObject({ outcome: "failed", contextId: "c" });
});

/** Carries out steps by agents that answer as given, by the step's text. */
async function carry(
  steps: readonly TaskStep[],
  answers: Readonly<Record<string, ReturnType<typeof paperAnswer>>>,
  finished: readonly StepResult[] = [],
) {
  const marks: unknown[][] = [];
  const asked: [string, string | undefined][] = [];
  const { flow, shown } = paperFlow({
    run: { id: "r", abortSignal: new AbortController().signal } as never,
    all: ((branches: readonly ((branch: unknown) => Promise<unknown>)[]) =>
      Promise.all(branches.map((branch) => branch(flow)))) as never,
    ask: async (_, message, how) => {
      const id = /Your step: do (.*)/.exec(typeof message === "string" ? message : message.text)?.[1] ?? "";
      asked.push([id, how?.contextId]);
      return answers[id] ?? paperAnswer(`did ${id}`, { contextId: `of ${id}` });
    },
  });
  const board = { mark: (_, ...mark) => void marks.push(mark) } as Board;
  const results = await runSteps(flow, steps, finished, board, { ...options, attempts: 1, concurrency: 2 });
  return { results, marks, asked, told: shown.told };
}

test("a step whose dependencies did not complete is never begun, and says which they are", async () => {
  const steps = [
    step("a"),
    step("b"),
    step("c"),
    step("d", { dependsOn: ["a", "b", "c"] }),
    step("e", { dependsOn: ["d"] }),
    step("f", { dependsOn: ["c"] }),
  ];
  const { results, marks, asked, told } = await carry(steps, { a: failed("no"), b: failed("no") });
  expect(asked.map(([id]) => id).sort()).toEqual(["a", "b", "c", "f"]);
  expect(results.map(({ outcome }) => outcome)).toEqual([
    "failed",
    "failed",
    "completed",
    "blocked",
    "blocked",
    "completed",
  ]);
  const reason = "It needs step a, b, which did not complete.";
  expect(results[3]).toEqual({ ...notStarted(step("d", { dependsOn: ["a", "b", "c"] })), reason });
  expect(results[4]?.reason).toBe("It needs step d, which did not complete.");
  expect(marks.filter(([id]) => id === "d")).toEqual([["d", "blocked", reason, `Step d: blocked: ${reason}`]]);
  expect(told.filter(({ note }) => note.startsWith("Step d"))).toEqual([
    {
      type: "step-ended",
      note: `Step d: blocked: ${reason}`,
      data: { step: "d", agent: "one", attempt: 0, outcome: "blocked", reason },
    },
  ]);
});

test("a step goes on in the conversation of its agent's last dependency, which is then taken", async () => {
  const done: StepResult = { ...notStarted(step("x")), outcome: "completed", answer: "did x", contextId: "of x" };
  const steps = [
    step("a", { dependsOn: ["x"] }),
    step("b", { dependsOn: ["x"] }),
    step("c", { dependsOn: ["x", "a", "b"] }),
    step("d", { dependsOn: ["c"], agent: "two" }),
  ];
  const { asked } = await carry(steps, {}, [done]);
  expect(asked).toEqual([
    ["a", "of x"],
    ["b", undefined],
    ["c", "of b"],
    ["d", undefined],
  ]);
});
