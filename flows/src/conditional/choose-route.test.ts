import { expect, test } from "bun:test";
import { AppError } from "manyhands";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { chooseRoute } from "./choose-route.ts";
import { conditional } from "./conditional.ts";
import type { Route } from "./route.ts";
import { rule } from "./rule.ts";

const routes: readonly Route[] = [
  { name: "code", when: "Bugs", agent: "one", rules: ["crash", "bug"].map((one) => rule.parse({ keywords: [one] })) },
  { name: "data", when: "", agent: "two", rules: [rule.parse({ keywords: ["table"] })] },
  { name: "Big-rest", when: "All else", agent: "two", rules: [] },
];
const usual = { classify: "both", confidence: 0.5, unsure: "default" } as const;
const model = (branch: string, confidence = 0.5) => ({ branch, confidence, reason: `it is ${branch}` });

type Changes = Parameters<typeof paperFlow>[0];

/** Chooses a route for this goal by what the model decides and the person answers, in turn. */
async function chosen(
  options: Partial<Parameters<typeof chooseRoute>[2]>,
  {
    goal = "Hm",
    decided = [] as readonly object[],
    said = [] as readonly string[],
    ...changes
  }: Changes & {
    readonly decided?: readonly object[];
    readonly said?: readonly string[];
  } = {},
  among: readonly Route[] = routes,
) {
  const questions: string[] = [];
  const { flow, shown } = paperFlow(
    {
      goal,
      run: { id: "r", step: (_: string, work: () => unknown) => work() } as never,
      askPerson: async (question) => said[questions.push(question) - 1] ?? "",
      ...changes,
    },
    { decided },
  );
  const choice = await chooseRoute(flow, among, { ...usual, ...options }).catch((error: unknown) => error as AppError);
  const route = "route" in choice ? { ...choice, route: choice.route.name } : { code: (choice as AppError).code };
  return { choice: route, error: choice, questions, decisions: shown.decisions };
}

test.each([
  ["both", "a table and a crash", "code", "rule", 0],
  ["rules", "a table", "data", "rule", 0],
  ["rules", "a bug", "code", "rule", 0],
  ["model", "a table", "Big-rest", "model", 1],
  ["both", "a poem", "Big-rest", "model", 1],
] as const)("by %s, %j is for %s", async (classify, goal, route, by, decisions) => {
  const made = await chosen({ classify }, { goal, decided: [model("Big-rest")] });
  expect(made.choice).toMatchObject({ route, by });
  expect(made.decisions).toHaveLength(decisions);
});

test("a run that goes on takes the route that a rule chose before, whatever the rules say now", async () => {
  const recorded = { index: 1, reason: "It said so." };
  const step = async (name: string, work: () => unknown) => (name === "apply rules" ? recorded : work());
  const made = await chosen({}, { goal: "a crash", run: { id: "r", step } as never });
  expect(made.choice).toMatchObject({ route: "data", by: "rule", reason: "It said so." });
});

test("where no rule holds and rules alone decide, the default is taken, or nothing", async () => {
  expect((await chosen({ classify: "rules", default: "data" })).choice).toEqual({
    route: "data",
    by: "default",
    reason: "No rule holds.",
  });
  const none = await chosen({ classify: "rules" });
  expect(none.error).toMatchObject({ code: "rejected", message: "No branch fits: No rule holds." });
});

test.each([
  [0.5, "code", "model"],
  [0.49, "data", "default"],
] as const)(
  "a model that is sure to %p has its choice where half is enough, or the default is taken",
  async (confidence, route, by) => {
    const made = await chosen({ default: "data" }, { decided: [model("code", confidence)] });
    expect(made.choice).toMatchObject({ route, by });
    expect("confidence" in made.choice).toBe(by === "model");
  },
);

test("the model sees the branches, the task with its files and data as what it sorts, and what the user said", async () => {
  const files = [
    { type: "file", ...paperFile("a.csv", "1,2") },
    { type: "data", data: { x: "y".repeat(5_000) } },
  ] as const;
  const { choice, decisions, questions } = await chosen(
    { unsure: "ask" },
    { earlier: "before", files, said: ["the sums", "are off"], decided: [model("none"), model("none"), model("data")] },
  );
  const task = `<task>\nEarlier in this conversation:\nbefore\n\nNow:\nHm\n{"x":"${"y".repeat(3_994)}\n[cut off]\n<file name="a.csv">\n1,2\n</file>\n</task>`;
  const list = "The branches:\n- code: Bugs\n- data: \n- Big-rest: All else\n\n";
  const asked = "\n\nThe user, asked which branch it is for, said:\n";
  expect(decisions.map(({ text }) => text)).toEqual([
    list + task,
    `${list}${task}${asked}the sums`,
    `${list}${task}${asked}the sums\nare off`,
  ]);
  expect(choice).toEqual({
    ...{ route: "data", by: "person", reason: "The answer was: are off", said: ["the sums", "are off"] },
  } as never);
  expect(questions[0]).toBe(
    "Which way should this task go? it is none\n\n1. code: Bugs\n2. data\n3. Big-rest: All else\n\nAnswer with a number or a name.",
  );
  expect(questions[1]).toStartWith('"the sums" names none of them.\n\nWhich way');
});

test.each([
  ["3", "Big-rest"],
  [" 1. ", "code"],
  ['"big rest".', "Big-rest"],
  ["BIG_REST!", "Big-rest"],
])("a person who answers %j means %s", async (answer, route) => {
  const { choice, decisions } = await chosen({ classify: "rules", unsure: "ask" }, { said: [answer] });
  expect([choice, decisions.length]).toEqual([
    { route, by: "person", reason: `The answer was: ${answer.trim()}`, said: [] } as never,
    0,
  ]);
});

test("where a branch is named by a number, it is chosen by its name and the list has no numbers", async () => {
  const years = ["2", "2024", "1. other"].map((name) => ({ name, when: "", agent: "one", rules: [] }));
  const ask = async (answer: string, numbering?: "always") => {
    const options = { classify: "rules", unsure: "ask", default: "2" } as const;
    const { choice, questions } = await chosen(
      { ...options, ...(numbering && { numbering }) },
      { said: [answer] },
      years,
    );
    return ["route" in choice && `${choice.route} ${choice.by}`, questions[0]?.split("\n\n").slice(1)];
  };
  const list = ["- 2\n- 2024\n- 1. other", "Answer with a name."];
  expect(await ask("2")).toEqual(["2 person", list]);
  expect(await ask(" 2024.")).toEqual(["2024 person", list]);
  expect(await ask("1")).toEqual(["2 default", list]);
  // The body before took a number for a place, whatever the names.
  const numbered = ["1. 2\n2. 2024\n3. 1. other", "Answer with a number or a name."];
  expect(await ask("2", "always")).toEqual(["2024 person", numbered]);
  expect(await ask("2024", "always")).toEqual(["2 default", numbered]);
});

test("what the model makes of a person's words needs the same confidence", async () => {
  const options = { unsure: "ask", confidence: 0.9, default: "code" } as const;
  const unsure = model("data", 0.8);
  const said = ["the sums", "those", "them"];
  const made = await chosen(options, { said, decided: [unsure, unsure, unsure, unsure] });
  expect(made.choice).toMatchObject({ route: "code", by: "default" });
  expect((await chosen(options, { said, decided: [unsure, model("data", 0.9)] })).choice).toMatchObject({
    ...{ route: "data", by: "person" },
  });
});

test("a person who says nothing has said nothing of the task", async () => {
  const { choice } = await chosen({ classify: "rules", unsure: "ask" }, { said: [" ", "the sums", "2"] });
  expect(choice).toMatchObject({ route: "data", said: ["the sums"] });
});

test.each(["0", "4", "", "1 or 2"])(
  "a person who answers %j is asked three times; then the default is taken",
  async (answer) => {
    const options = { classify: "rules", unsure: "ask", default: "code" } as const;
    const { choice, questions } = await chosen(options, { said: [answer, answer, answer, "2"] });
    expect(choice).toEqual({ route: "code", by: "default", reason: "No rule holds. No answer named a branch." });
    expect(questions).toHaveLength(3);
    expect((await chosen({ ...options, default: undefined }, { said: [answer] })).choice).toEqual({ code: "rejected" });
  },
);

test("a model without a usable answer is unsure; a limit that is reached, or a bug, ends the flow", async () => {
  const failing = (error: Error) => chosen({ default: "data" }, { decide: () => Promise.reject(error) });
  expect((await failing(new AppError("task_failed", "No answer."))).choice).toEqual({
    route: "data",
    by: "default",
    reason: "No answer.",
  });
  expect((await failing(new AppError("token_limit", "Spent."))).choice).toEqual({ code: "token_limit" });
  const bug = new TypeError("a bug");
  expect((await failing(bug)).error).toBe(bug as never);
});

const settings = { agents: ["x"] };

/** Runs the flow by its first rule on paper. */
async function run(asked: Parameters<typeof paperAnswer>[1], changes: Changes = {}) {
  const [handedOn, reached, expected]: [unknown[], string[], unknown[]] = [[], [], []];
  const { flow, shown } = paperFlow(
    {
      run: { id: "r", step: (_: string, work: () => unknown) => work() } as never,
      goal: "A crash",
      earlier: "before",
      receiveMessages: async () => ["quickly"],
      handOn: (...made) => void handedOn.push(made),
      reached: (text) => void reached.push(text),
      expect: (...calls) => void expected.push(calls),
      ...changes,
    },
    { asked: [paperAnswer("done", asked)] },
  );
  const branches = routes
    .slice(0, 1)
    .map((route) => ({ ...route, rules: [...route.rules], deadlineMs: 700, settings }));
  const end = await conditional.perform(flow, { ...usual, branches } as never).catch((error: unknown) => error);
  return { end, handedOn, reached, expected, asks: shown.asks, told: shown.told };
}

test("the chosen agent gets the whole task with its deadline, and its answer, files and data are the flow's", async () => {
  const files = [paperFile("a.txt")];
  const { end, asks, handedOn, expected } = await run({ files, data: 0 });
  expect(asks[0]).toMatchObject({
    agent: "one",
    text: "Earlier in this conversation:\nbefore\n\nNow:\nA crash\n\nThe user added:\nquickly",
    parts: [],
    settings,
    options: { isAnswer: true, deadlineMs: 700 },
  });
  expect(end).toMatchObject({ answer: "done", data: { agent: "one", taskId: "t", data: 0, choice: { by: "rule" } } });
  expect([handedOn, expected]).toEqual([[[files, undefined]], [[1, { own: true }], [1]]]);
});

test("what a chosen agent that fails had done is kept, and a limit of the flow keeps its name", async () => {
  // What stopped the agent is no limit of the flow.
  const error = { code: "token_limit", message: "no paper" } as const;
  const failed = await run({ state: "failed", error, files: [paperFile("half.txt")] });
  expect(failed.end).toMatchObject({ code: "task_failed", message: "Branch code: one failed: no paper" });
  expect([failed.reached, failed.handedOn]).toEqual([["done"], [[[paperFile("half.txt")], undefined]]]);
  const limit = new AppError("step_limit", "No more asks.");
  const { end } = await run({}, { ask: () => Promise.reject(limit) });
  expect(end).toMatchObject({ code: "step_limit", message: "Branch code: No more asks." });
});
