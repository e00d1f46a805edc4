import { expect, test } from "bun:test";
import type { Flow } from "manyhands/flows";
import { entryForTest } from "manyhands/internal/testing/flow";
import { approvePlan, readAnswer } from "./approve-plan.ts";

const agents = [entryForTest("swe", "http://a"), entryForTest("data-analysis", "http://b")];
const read = (text: string) => readAnswer(text, { agents, finished: [], maxSteps: 5 });

test("yes and no are short; any longer text is a change request", () => {
  for (const text of ["yes", "Y", " OK! ", "go ahead", "approved", "yes, please."])
    expect(read(text).verdict).toBe("approved");
  for (const text of ["no", "No, thanks.", "stop", "cancel!"]) expect(read(text).verdict).toBe("rejected");
  for (const text of ["no, let swe do step 2", "yes but in French", "start with the data"])
    expect(read(text)).toEqual({ verdict: "wish", text });
  expect(read("  ")).toMatchObject({ verdict: "unclear" });
});

test("a plan is parsed from lines in the form it was shown", () => {
  expect(
    read(
      "1. [SWE] Fix it => tests pass\n2. [data analysis] Count (after 1) (delivers n.csv, a sum) => a number\nto-tell) [swe] Tell (after 1, 2)",
    ),
  ).toEqual({
    verdict: "edited",
    steps: [
      { id: "1", text: "Fix it", agent: "swe", dependsOn: [], expected: "tests pass", delivers: [] },
      {
        ...{ id: "2", text: "Count", agent: "data-analysis", dependsOn: ["1"], expected: "a number" },
        delivers: ["n.csv", "a sum"],
      },
      { id: "to-tell", text: "Tell", agent: "swe", dependsOn: ["1", "2"], expected: "", delivers: [] },
    ],
  });
});

test("an answer made to take forever is read like any other", () => {
  const space = " ".repeat(100_000);
  const steps = (text: string) => {
    const found = read(text);
    return found.verdict === "edited"
      ? found.steps.map(({ text, expected }) => [text.length, expected])
      : found.verdict;
  };
  expect(steps(`[swe] x${space}(after b`)).toEqual([[100_009, ""]]);
  expect(steps(`[swe]${space}x => y => z${space}`)).toEqual([[1, "y => z"]]);
  expect(steps(`[swe] x${"(after ".repeat(20_000)}`)).toEqual([[140_000, ""]]);
  expect(steps(`${space}- no step`)).toBe("wish");
});

test("or from JSON, fenced or not, as a list of steps or an object", () => {
  const steps = [{ text: "Fix it", agent: "swe" }];
  const expected = {
    verdict: "edited",
    steps: [{ id: "1", text: "Fix it", agent: "swe", dependsOn: [], expected: "", delivers: [] }],
  };
  const texts = [
    JSON.stringify({ steps }),
    JSON.stringify(steps),
    `\`\`\`json\n${JSON.stringify({ steps }, null, 2)}\n\`\`\``,
  ];
  for (const text of texts) expect(read(text)).toEqual(expected as ReturnType<typeof read>);
});

test("a plan that cannot be carried out is refused with the reason", () => {
  const fault = (text: string) => {
    const answer = read(text);
    return answer.verdict === "unclear" ? answer.fault : answer.verdict;
  };
  expect(fault("[cook] Cook")).toBe('Step 1: there is no agent "cook"; there are swe, data-analysis.');
  expect(fault("1. [swe] A (after 2)\n2. [swe] B (after 1)")).toContain("wait for each other");
  expect(fault('{"steps": [{"agent": "swe"}]}')).toContain("cannot be read");
  expect(fault('{"steps": [')).toContain("cannot be read");
});

const step = (id: string, more: object = {}) => ({
  ...{ id, text: `Do ${id}`, agent: "swe", dependsOn: [], expected: "", delivers: [] },
  ...more,
});
const plan = {
  id: "p",
  title: "The plan",
  steps: [step("1"), step("2", { dependsOn: ["1"], delivers: ["a.md"], expected: "it is there" })],
};

/** Has the plan approved by a person who gives these answers, and then only asks back. */
function approving(...answers: readonly string[]) {
  const questions: string[] = [];
  const planned: string[] = [];
  const flow = {
    run: { id: "r" },
    files: [],
    tell: () => undefined,
    askPerson: async (question: string) => {
      questions.push(question);
      return answers[questions.length - 1] ?? "";
    },
    decide: async ({ text }: { readonly text: string }) => {
      planned.push(text);
      return {
        title: text.includes("in French") ? "Un plan" : "Another",
        steps: [{ id: "1", text: "Autre", agent: "swe", depends_on: [], expected: "", delivers: [] }],
      };
    },
  } as unknown as Flow;
  return { questions, planned, done: approvePlan(flow, plan, { goal: "G", agents, maxSteps: 5 }) };
}

test("a person reads the plan as lines that they could send back", async () => {
  const { questions, done } = approving("yes");
  expect(await done).toEqual({ plan, goal: "G" });
  expect(questions[0]).toStartWith(
    "This is the plan:\n\nThe plan\n1. [swe] Do 1\n2. [swe] Do 2 (after 1) (delivers a.md) => it is there\n\nAnswer yes",
  );
  const lines = questions[0]?.split("\n").slice(3, 5).join("\n") ?? "";
  expect(read(lines)).toEqual({ verdict: "edited", steps: plan.steps });
});

test("a no stops the flow, an edit is taken as it is, and an unclear answer is asked about once, with the reason", async () => {
  await expect(approving("no").done).rejects.toMatchObject({ code: "rejected" });
  const edited = await approving("1. [swe] Something else").done;
  expect(edited).toMatchObject({ goal: "G", plan: { id: "p", steps: [{ text: "Something else" }] } });
  const many = Array.from({ length: 6 }, (_, n) => `${n}. [swe] Do ${n}`).join("\n");
  const { questions, done } = approving("1. [cook] Cook", "", many, "yes");
  await done;
  expect(questions[1]).toStartWith('Step 1: there is no agent "cook"');
  expect(questions[2]).toStartWith("There was no text in the answer.");
  expect(questions[3]).toStartWith("The plan has 6 steps; 5 is the most.");
});

test("a wish makes another plan, is part of the task from then on, and leaves no fault behind", async () => {
  const { questions, done } = approving("", "in French", "yes");
  const { plan: second, goal } = await done;
  expect([second.title, goal]).toEqual(["Un plan", "G\n\nThe user said of a first plan for it:\nin French"]);
  expect(questions[2]).toStartWith("This is the plan:\n\nUn plan\n1. [swe] Autre");
});

test("each wish is heard together with those before it, and an edit keeps them", async () => {
  const { done, planned } = approving("in French", "and short", "[swe] Only this");
  const first = "G\n\nThe user said of a first plan for it:\nin French";
  expect((await done).goal).toBe(`${first}\n\nThe user said of a first plan for it:\nand short`);
  expect(planned[0]).toContain("The task:\nG\n\nThis plan was made for it:\n1. [swe] Do 1");
  expect(planned[1]).toContain(`The task:\n${first}\n\nThis plan was made for it:\n1. [swe] Autre`);
  expect(planned[1]).toContain("The user says of the plan:\nand short");
});

test("a plan is put before a person ten times", async () => {
  const { questions, done } = approving();
  await expect(done).rejects.toMatchObject({ code: "rejected", message: expect.stringContaining("too often") });
  expect(questions).toHaveLength(10);
});
