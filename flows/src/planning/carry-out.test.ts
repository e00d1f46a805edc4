import { expect, test } from "bun:test";
import { flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { plan, plannerForTest, revision } from "../testing/planner.ts";
import type { Board } from "./board.ts";
import { carryOut } from "./carry-out.ts";
import { carryOutFirst } from "./first-body.ts";
import { planning } from "./planning.ts";
import type { TaskPlan, TaskStep } from "./task-plan.ts";

test("what the caller adds while the report is written is planned for, and the report is written anew", async () => {
  const writing = Promise.withResolvers<void>();
  await using flow = await flowForTest(planning, {
    agents: { one: (_, n) => ({ text: `part ${n}` }) },
    model: plannerForTest({
      plans: [
        plan({ text: "A", agent: "one" }, { text: "B", agent: "one" }),
        (text) =>
          text.includes("and in French")
            ? revision("continue", { text: "Translate", agent: "one", depends_on: [1] })
            : revision("enough"),
      ],
      report(text) {
        if (text.includes("and in French")) return { text: "fini" };
        writing.resolve();
        return { text: "a draft", delayMs: 1_500 };
      },
    }),
  });
  const id = await flow.start({ text: "Go" });
  await writing.promise;
  await flow.say(id, "and in French");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: "fini" });
  const ended = flowEvents(await flow.events(id), "step-ended").map(({ step, outcome }) => `${step} ${outcome}`);
  expect(ended.sort()).toEqual(["1 completed", "2 completed", "3 completed"]);
});

const step = (id: string, agent = "one", changes: Partial<TaskStep> = {}): TaskStep => ({
  ...{ id, text: `do ${id}`, agent, dependsOn: [], expected: "", delivers: [] },
  ...changes,
});
const planOf = (...steps: readonly TaskStep[]): TaskPlan => ({ id: "p", title: "Trip", steps });
const agent = (name: string) => ({ name, title: name, description: "", skills: [], url: "", kind: "agent" as const });
type Brief = Parameters<typeof carryOut>[2];

/**
 * Carries out a plan on paper. The agent `bad` fails, any other does its step and hands over a file
 * of its name; `heard` is what the caller adds, by the time it is asked for.
 */
async function carried(
  first: TaskPlan,
  {
    decided = [],
    heard = [],
    replans = 2,
    carry = carryOut,
    ends,
  }: {
    readonly decided?: readonly object[];
    readonly heard?: readonly (readonly string[])[];
    readonly replans?: number;
    readonly carry?: typeof carryOut;
    readonly ends?: readonly object[];
  } = {},
) {
  const messages = [...heard];
  const [handedOn, expected, posted]: [string[], unknown[], string[]] = [[], [], []];
  const [conclusions, held]: [object[], unknown[]] = [[...(ends ?? [])], []];
  const { flow, shown } = paperFlow(
    {
      ...(ends && { writeOrDecide: (async () => conclusions.shift()) as never }),
      run: { id: "r", abortSignal: new AbortController().signal } as never,
      all: ((branches: readonly ((branch: unknown) => Promise<unknown>)[]) =>
        Promise.all(branches.map((branch) => branch(flow)))) as never,
      receiveMessages: async () => [...(messages.shift() ?? [])],
      expect: (...asks) => void expected.push(asks),
      handOn: (files) => void handedOn.push(...files.map(({ name }) => name)),
      ask: async (agent, message, { deadlineMs } = {}) => {
        held.push(deadlineMs);
        const id = /Your step: do (.*)/.exec(typeof message === "string" ? message : message.text)?.[1] ?? "";
        return agent === "bad"
          ? paperAnswer("", { agent, state: "failed", error: { code: "task_failed", message: "no paper" } })
          : paperAnswer(`did ${id}`, { files: [paperFile(`${id}.csv`)] });
      },
    },
    { decided, written: ["the report", "the report", "the report"] },
  );
  const board = { mark: () => undefined, post: (_, __, note) => void posted.push(note) } as Board;
  const brief: Brief = { goal: "The goal", agents: [agent("one"), agent("bad")], maxSteps: 5 };
  const options = { concurrency: 2, attempts: 1, replans, stepDeadlineMs: 5_000 };
  const end = await carry(flow, first, brief, board, options).catch((error: unknown) => error as Error);
  return { end, shown, handedOn, expected, posted, held };
}

const two = planOf(step("a"), step("b"));
const again = (id: string) => ({
  verdict: "continue",
  reason: "so",
  steps: [{ id, text: `do ${id}`, agent: "one", depends_on: [], expected: "", delivers: [] }],
});

test("what the caller adds when nothing can be planned any more is for who ends the task, and does not fail it", async () => {
  const { end, shown } = await carried(two, { replans: 0, heard: [["and in French"], ["too late"]] });
  expect(end).toMatchObject({ answer: "the report" });
  expect(shown.writings.map(({ text }) => text.split("\n\nWhat came")[0])).toEqual([
    "The task:\nThe goal\n\nThe user added:\nand in French",
  ]);
  const failing = await carried(planOf(step("a"), step("b", "bad")), { replans: 0, heard: [["and in French"]] });
  expect(failing.end).toMatchObject({ code: "task_failed" });
  expect(failing.shown.writings[0]).toMatchObject({ isAnswer: false });
  expect(failing.shown.writings[0]?.text).toContain("The user added:\nand in French");
});

test.each([
  ["this version", carryOut],
  ["the first one", carryOutFirst],
])(
  "what is done stays done after planning anew, is handed on once, and what was added stays added: in %s of the body",
  async (version, carry) => {
    const met = { verdict: "met", evidence: "x", reason: "" };
    const checks = version === "this version" ? [[], []] : [[met], [met, { missing: [] }]];
    const { end, shown, handedOn, expected, posted } = await carried(planOf(step("a"), step("b", "bad")), {
      carry,
      decided: [...(checks[0] ?? []), again("c"), ...(checks[1] ?? [])],
      heard: [["and in French"]],
    });
    expect(end).toMatchObject({ data: { steps: [{ id: "a" }, { id: "c" }] } });
    expect(handedOn).toEqual(["a.csv", "c.csv"]);
    expect(expected).toEqual([2, 1, 1].map((count) => [count, { own: true }]));
    expect(posted).toEqual(["Planned anew: so"]);
    const texts = [...shown.decisions, ...shown.writings].map(({ text }) => text);
    expect(texts.at(-1)).toContain("The user added:\nand in French");
    // A step is the whole plan only if nothing was done before it.
    expect(texts.filter((text) => text.includes("It is the only step"))).toEqual([]);
    expect(shown.decisions.map(({ name }) => name)).toEqual(
      version === "this version" ? ["planning"] : ["check_step", "planning", "check_step", "check_task"],
    );
  },
);

test("the only step of a plan is checked against the whole task, and a task that cannot be done says why", async () => {
  const unmet = { verdict: "blocked", evidence: "", reason: "no key" };
  const { end, shown } = await carried(planOf(step("a")), {
    decided: [unmet, { verdict: "impossible", reason: "there is no key", steps: [] }],
  });
  expect(shown.decisions[0]?.text).toContain("It is the only step");
  expect((end as Error).message).toBe("The task was not done. there is no key");
});

test("enough is not enough while something is missing, and each step has its deadline", async () => {
  const missing = { value: { not_done: [], missing: [{ what: "the sum", reason: "nobody added" }] } };
  const { end, held } = await carried(two, {
    decided: [{ verdict: "enough", reason: "all is there", steps: [] }],
    ends: [missing, { text: "the report" }],
  });
  expect((end as Error).message).toBe("The task was not done. Missing: the sum: nobody added");
  expect(held).toEqual([5_000, 5_000]);
});
