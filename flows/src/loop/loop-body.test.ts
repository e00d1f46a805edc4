import { expect, test } from "bun:test";
import type { AppError, Part } from "manyhands";
import type { AskOutcome } from "manyhands/flows";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { loop } from "./loop.ts";

const verdict = (passed: boolean, feedback = "x", score = 0.5) => ({ passed, feedback, score });
const refused = { code: "forbidden", message: "no" } as const;
const failing = (changes: Partial<AskOutcome> = {}) =>
  paperAnswer("", { state: "failed", error: { code: "timeout", message: "late" }, contextId: "", ...changes });

/** Performs the flow on paper with these attempts of the agent and these verdicts. */
async function performed(
  options: object,
  asked: readonly AskOutcome[],
  decided: readonly object[] = [],
  changes: Parameters<typeof paperFlow>[0] = {},
) {
  const [checked, reached, handedOn, expected]: [string[], string[], string[], unknown[]] = [[], [], [], []];
  const { flow, shown } = paperFlow(
    {
      check: (name) => void checked.push(name),
      reached: (text) => void reached.push(text),
      handOn: (files) => void handedOn.push(...files.map(({ sha256 }) => sha256)),
      expect: (...calls) => void expected.push(calls),
      ...changes,
    },
    { asked, decided },
  );
  const given = loop.options.parse({ agent: "one", ...options }) as never;
  const end = await loop.perform(flow, given).catch((error: unknown) => error as AppError);
  return { end, checked, reached, handedOn, expected, asks: shown.asks, told: shown.told };
}

test("only two iterations in a row that came to the same end a loop as stuck", async () => {
  const answers = ["a", "b", "a", "a"].map((text) => paperAnswer(text));
  const { end, asks } = await performed({}, answers, Array(4).fill(verdict(false)));
  expect([(end as AppError).code, asks.length]).toEqual(["stuck", 4]);
  expect((end as AppError).message).toContain("iterations 3 and 4");
});

test("what is said during the last attempt, which passes, does not take its result away", async () => {
  const said = { receiveMessages: async () => ["In red."] };
  const { end, asks } = await performed({ maxIterations: 1 }, [paperAnswer("done")], [verdict(true)], said);
  expect(end).toMatchObject({ answer: "done" });
  expect(asks).toHaveLength(1);
});

test("after what was said during an attempt that passed, an attempt of a lower score is the result", async () => {
  const said = [[], ["In red."]];
  const { end, handedOn, asks } = await performed(
    {},
    [paperAnswer("done", { files: [paperFile("1")] }), paperAnswer("red", { files: [paperFile("2")] })],
    [verdict(true, "x", 1), verdict(true, "y", 0.6)],
    { receiveMessages: async () => said.shift() ?? [] },
  );
  expect(end).toMatchObject({ answer: "red" });
  expect(asks[1]?.text).toContain("The task now:");
  expect(handedOn).toContain(paperFile("2").sha256);
});

test("the first work that was finished is the result until a check was made, and no later one", async () => {
  const flow = { decide: async () => Promise.reject(new Error("no check")) };
  expect((await performed({}, [failing(), paperAnswer("first")], [], flow)).reached).toEqual(["first"]);
  const answers = [paperAnswer("first"), paperAnswer("second")];
  const worse = [verdict(false, "x", 0.9), verdict(false, "y", 0.2)];
  const { reached } = await performed({ maxIterations: 2 }, answers, worse);
  expect(reached).toEqual(["first", "first\n\nThe check did not pass: x"]);
});

test("an attempt goes on in the newest conversation there is, with the files that are new to it", async () => {
  const file = (name: string): Part => ({ type: "file", ...paperFile(name) });
  const files = [file("task.txt")];
  const receiveMessages = async () => {
    if (files.length < 2) files.push(file("added.txt"));
    return [];
  };
  const { remembers: _, ...forgotten } = paperAnswer("d", { contextId: "c2" });
  const answers = [
    paperAnswer("a", { contextId: "c1", files: [paperFile("made.txt")] }),
    paperAnswer("b", { contextId: "c2" }),
    failing(),
    forgotten,
    paperAnswer("e"),
  ];
  const decided = ["1", "2", "4"].map((feedback) => verdict(false, feedback));
  const { asks } = await performed({}, answers, [...decided, verdict(true)], { files, receiveMessages });
  expect(asks.map(({ options }) => options.contextId)).toEqual([undefined, "c1", "c2", "c2", "c2"]);
  const sent = asks.map(({ parts = [] }) => parts.map((part) => (part.type === "file" ? part.name : "")));
  const all = ["task.txt", "added.txt"];
  expect(sent).toEqual([all, [], [], [], [...all, "made.txt"]]);
});

test("a failure that another attempt may mend is one attempt; one that it may not ends the loop", async () => {
  const mended = await performed({}, [failing(), paperAnswer("done")], [verdict(true)]);
  expect(mended.end).toMatchObject({ answer: "done" });
  expect(mended.asks[1]?.text).toContain("The attempt did not come to an end");
  const { end, asks } = await performed({}, [failing({ error: refused })]);
  expect([(end as AppError).code, asks.length]).toEqual(["task_failed", 1]);
  expect((end as AppError).message).toStartWith("Iteration 1: ");
});

test("an agent's check has the attempt's deadline, and its agent is checked before any work", async () => {
  const until = { by: "agent", agent: "judge" };
  const answers = [paperAnswer("work"), paperAnswer("", { data: verdict(true) })];
  const { checked, asks, expected } = await performed({ until, deadlineMs: 5_000, maxIterations: 3 }, answers);
  expect(checked).toEqual(["one", "judge"]);
  expect(asks.map(({ agent, options }) => [agent, options.deadlineMs])).toEqual([
    ["one", 5_000],
    ["judge", 5_000],
  ]);
  expect(expected).toEqual([[6, { own: false }]]);
  expect((await performed({}, [paperAnswer("work")], [verdict(true)])).expected).toEqual([[5, { own: true }]]);
});
