import { expect, test } from "bun:test";
import type { AskOutcome, Flow } from "manyhands/flows";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { debate } from "./debate.ts";
import type { Debater, DebateState } from "./debate-state.ts";
import { holdRound, type RoundOptions } from "./hold-round.ts";

const one: Debater = { name: "A", agent: "one", position: "Tabs", settings: { agents: ["x"] } };
const two: Debater = { name: "B", agent: "two", position: "Spaces" };
const given = { type: "file", ...paperFile("given.txt") } as const;
const opening: DebateState = { question: "Which?", debaters: [one, two], arguments: [], absences: [], round: 0 };

/** A flow whose agents answer so in turn; what its branches were held to is in `held`. */
function paper(...asked: readonly AskOutcome[]) {
  const held: unknown[] = [];
  const all = async (branches: readonly ((flow: Flow) => Promise<unknown>)[], options: unknown) => {
    held.push(options);
    const turns: unknown[] = [];
    for (const branch of branches) turns.push(await branch(flow));
    return turns;
  };
  const { flow, shown } = paperFlow({ files: [given], all: all as never }, { asked });
  return { flow, shown, held };
}
/** The answer of an agent that may forget the conversation. */
const forgetful = ({ remembers: _, ...answer }: AskOutcome): AskOutcome => answer;
const options = (): RoundOptions => ({ turnDeadlineMs: 900, concurrency: 2, conversations: new Map() });

test("a debater goes on in its own conversation, and gets the files once if its agent remembers them", async () => {
  const held = options();
  const {
    flow,
    shown,
    held: bounds,
  } = paper(
    paperAnswer("a1", { contextId: "of A", files: [paperFile("a.txt")], data: 0 }),
    forgetful(paperAnswer("b1", { contextId: "of B" })),
    paperAnswer("a2", { contextId: "of A" }),
    paperAnswer("b2", { contextId: "" }),
    paperAnswer("a3"),
    paperAnswer("b3"),
  );
  const first = await holdRound(flow, opening, held);
  const second = await holdRound(flow, first, held);
  const third = await holdRound(flow, second, held);
  expect(shown.asks.map(({ agent, parts, settings, options }) => [agent, parts, settings, options])).toEqual([
    ["one", [given], one.settings, { deadlineMs: 900 }],
    ["two", [given], undefined, { deadlineMs: 900 }],
    ["one", [], one.settings, { deadlineMs: 900, contextId: "of A" }],
    ["two", [given], undefined, { deadlineMs: 900, contextId: "of B" }],
    ["one", [], one.settings, { deadlineMs: 900, contextId: "of A" }],
    ["two", [given], undefined, { deadlineMs: 900, contextId: "of B" }],
  ]);
  expect(third.arguments.map(({ number, round, debater: { name }, text }) => [number, round, name, text])).toEqual([
    [1, 1, "A", "a1"],
    [2, 1, "B", "b1"],
    [3, 2, "A", "a2"],
    [4, 2, "B", "b2"],
    [5, 3, "A", "a3"],
    [6, 3, "B", "b3"],
  ]);
  expect(third.arguments[0]).toMatchObject({ files: [paperFile("a.txt")], data: 0 });
  expect([third.round, third.absences, bounds[0]]).toEqual([3, [], held]);
});

test("who fails, is late or says nothing is absent in that round, with the reason, and is told of as such", async () => {
  const late = paperAnswer("half", { agent: "one", state: "timed-out", error: { code: "timeout", message: "late" } });
  const { flow, shown } = paper(late, paperAnswer(" \n", { agent: "two" }));
  const held = await holdRound(flow, opening, options());
  expect(held.arguments).toEqual([]);
  expect(held.absences.map(({ round, debater: { name }, reason }) => [round, name, reason])).toEqual([
    [1, "A", expect.stringContaining("one did not answer in time")],
    [1, "B", "two gave no argument"],
  ]);
  expect(shown.told.map(({ type, data }) => [type, data])).toEqual([
    [
      "round-begun",
      { round: 1, positions: [one, two].map(({ name, agent, position }) => ({ debater: name, agent, position })) },
    ],
    ["debater-absent", { round: 1, debater: "A", agent: "one", reason: held.absences[0]?.reason, outcome: "blocked" }],
    ["debater-absent", { round: 1, debater: "B", agent: "two", reason: "two gave no argument", outcome: "blocked" }],
  ]);
});

test("what the caller adds to the question is part of it in every round from then on, and for the judge", async () => {
  const answers = [1, 2, 3, 4, 5, 6].map((n) => paperAnswer(`point ${n}`));
  const added = [[], ["in one word"]];
  const { flow, shown } = paper(...answers);
  const verdict = { decision: "Tabs", confidence: 1, reasons: ["so"], dissent: "", citations: [1] };
  const held = { ...flow, receiveMessages: async () => added.shift() ?? [], decide: async () => verdict } as Flow;
  const rounds = { rounds: 3, converge: false, turnDeadlineMs: 900, concurrency: 2 };
  await debate.perform(held, { ...rounds, positions: [one, two] } as never);
  const question = "The question:\nThe goal";
  expect(shown.asks.map(({ text }) => text.includes(`${question}\n\nThe user added:\nin one word`))).toEqual([
    ...[false, false, true, true, true, true],
  ]);
});
