import { expect, test } from "bun:test";
import { AppError, type Part } from "manyhands";
import type { AgentEntry, AskOutcome, FlowResult } from "manyhands/flows";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { conditional } from "./conditional.ts";

const entry = (name: string, description = `${name}'s card`) =>
  ({ name, title: name, description, skills: [], url: "", kind: "agent" }) as unknown as AgentEntry;
const part: Part = { type: "file", ...paperFile("table.csv") };
const choice = { branch: "two", confidence: 0.9, reason: "it is" };

/** Performs the flow on paper; the model chooses the branch “two”. */
async function performed(
  options: object,
  answer = paperAnswer("done"),
  changes: Parameters<typeof paperFlow>[0] = {},
  perform = conditional.perform,
) {
  const [checked, reached, handedOn, expected]: [string[], string[], unknown[], unknown[]] = [[], [], [], []];
  const { flow, shown } = paperFlow(
    {
      agents: [entry("one"), entry("two")],
      files: [part],
      check: (name) => void checked.push(name),
      reached: (text) => void reached.push(text),
      handOn: (...made) => void handedOn.push(made),
      expect: (...calls) => void expected.push(calls),
      ...changes,
    },
    { asked: [answer], decided: [choice] },
  );
  const given = conditional.options.parse(options) as never;
  const end = await perform(flow, given).catch((error: unknown) => error as AppError);
  return { end, checked, reached, handedOn, expected, asks: shown.asks, decisions: shown.decisions };
}

test("each agent is one route, once, by its card; all are checked before the model chooses", async () => {
  const agents = [entry("one"), entry("two"), entry("two")];
  const { checked, decisions, asks, expected } = await performed({}, undefined, { agents });
  expect(checked).toEqual(["one", "two"]);
  const shown = `${decisions[0]?.instructions}${decisions[0]?.text}`;
  expect(shown.split("two's card")).toHaveLength(2);
  expect(asks).toMatchObject([{ agent: "two", parts: [part], options: { isAnswer: true } }]);
  expect(expected).toEqual([[1, { own: true }], [1]]);
});

test("a route has its own words before its agent's, its settings, its instruction and its deadline", async () => {
  const settings = { options: { depth: 1 } };
  const two = { name: "two", agent: "two", when: "Own words", settings, deadlineMs: 5_000, instruction: "{branch}!" };
  const branches = [{ name: "one", agent: "one" }, two];
  const { asks, decisions } = await performed({ branches }, undefined, { receiveMessages: async () => ["And this."] });
  const shown = `${decisions[0]?.instructions}${decisions[0]?.text}`;
  expect(shown).toContain("one's card");
  expect([shown.includes("Own words"), shown.includes("two's card")]).toEqual([true, false]);
  expect(asks).toMatchObject([{ settings, options: { deadlineMs: 5_000 } }]);
  expect(asks[0]?.text).toStartWith("two!");
  expect(asks[0]?.text).toContain("And this.");
});

test("the route's files and artifacts are handed on, though it failed; its end is the flow's", async () => {
  const artifacts = [{ artifactId: "a", name: "note", parts: [] }] as unknown as NonNullable<AskOutcome["artifacts"]>;
  const files = [paperFile("half.txt")];
  const error = { code: "token_limit", message: "no more" } as const;
  const failed = await performed({}, paperAnswer("half", { state: "failed", error, files, artifacts }));
  expect([failed.handedOn, failed.reached]).toEqual([[[files, artifacts]], ["half"]]);
  // The agent's limit is its own; the flow's is the flow's end.
  expect(failed.end).toMatchObject({ code: "task_failed", message: expect.stringContaining("Branch two: ") });
  const limit = () => Promise.reject(new AppError("token_limit", "Nothing is left."));
  expect((await performed({}, undefined, { ask: limit })).end).toMatchObject({ code: "token_limit" });
  expect((await performed({}, paperAnswer("done", { data: 0 }))).end).toEqual({
    answer: "done",
    data: {
      choice: { branch: "two", by: "model", reason: "it is", confidence: 0.9 },
      agent: "two",
      taskId: "t",
      data: 0,
    },
  });
});

test("what a person said on the way is told to the agent before what came later", async () => {
  const answers = ["hm, tables", "2"];
  const { asks } = await performed(
    {
      classify: "rules",
      unsure: "ask",
      branches: [
        { name: "one", agent: "one", rules: [{ keywords: ["zzz"] }] },
        { name: "two", agent: "two" },
      ],
    },
    undefined,
    { askPerson: async () => answers.shift() ?? "", receiveMessages: async () => ["later"] },
  );
  expect(asks[0]?.text).toMatch(/hm, tables[\s\S]*later/);
});

test("a run that began with the second body passes nothing on that is said while the agent works", async () => {
  const [second] = conditional.former ?? [];
  expect(second?.body).toBe(2);
  const options = { branches: [{ name: "one", agent: "one", rules: [{ keywords: ["goal"] }] }], classify: "rules" };
  const asked = async (perform: typeof conditional.perform) =>
    (await performed(options, undefined, {}, perform)).asks[0]?.options;
  expect(await asked(conditional.perform)).toMatchObject({ passMessages: true });
  expect(await asked(second?.perform as typeof conditional.perform)).not.toHaveProperty("passMessages");
});

test("a run that began with the first body reads a number as the place in the list, a new one as a name", async () => {
  const branches = ["2", "1"].map((name) => ({ name, agent: "one" }));
  const rules = { branches: [{ ...branches[0], rules: [{ keywords: ["zzz"] }] }, branches[1]] };
  const options = { ...rules, classify: "rules", unsure: "ask" };
  const changes = { askPerson: async () => "2" };
  const made = async (perform: typeof conditional.perform) =>
    ((await performed(options, undefined, changes, perform)).end as FlowResult).data;
  expect(await made(conditional.perform)).toMatchObject({ choice: { branch: "2", by: "person" } });
  const first = conditional.former?.at(-1);
  expect(first?.body).toBe(1);
  expect(await made(first?.perform as typeof conditional.perform)).toMatchObject({ choice: { branch: "1" } });
});
