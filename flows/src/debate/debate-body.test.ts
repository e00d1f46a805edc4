import { expect, test } from "bun:test";
import type { AppError } from "manyhands";
import type { AskOutcome } from "manyhands/flows";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { debate } from "./debate.ts";

const positions = [
  { agent: "one", position: "Tabs" },
  { agent: "two", position: "Spaces" },
];
const verdict = { decision: "Tabs", confidence: 0.6, reasons: ["so"], dissent: "", citations: [1] };
const differ = { agreed: false, reason: "they differ" };
const silent = (agent: string) =>
  paperAnswer("", { agent, state: "failed", error: { code: "task_failed", message: "no comment" } });

/** Holds a debate on paper: what agents answer in turn, and what the model decides. */
async function held(options: object, asked: readonly AskOutcome[], decided: readonly object[]) {
  const [expected, reached, artifacts, handedOn, checked, bounds]: [
    unknown[],
    string[],
    string[],
    string[],
    string[],
    unknown[],
  ] = [[], [], [], [], [], []];
  const { flow, shown } = paperFlow(
    {
      expect: (...calls) => void expected.push(calls),
      reached: (text) => void reached.push(text),
      artifact: (name, parts) => void artifacts.push(`${name} ${JSON.stringify(parts).includes("## Verdict")}`),
      handOn: (files) => void handedOn.push(...files.map(({ name }) => name)),
      check: (agent) => void checked.push(agent),
      all: (async (turns: readonly ((each: unknown) => Promise<unknown>)[], how: object) => {
        bounds.push(how);
        const all: unknown[] = [];
        for (const turn of turns) all.push(await turn(flow));
        return all;
      }) as never,
    },
    { asked, decided },
  );
  const given = debate.options.parse({ positions, ...options }) as never;
  const end = await debate.perform(flow, given).catch((error: unknown) => error as AppError);
  return { end, expected, reached, artifacts, handedOn, checked, bounds, shown };
}
const answers = (...texts: readonly string[]) => texts.map((text) => paperAnswer(text));

test("the budget is shared by all turns that may follow, and a verdict's share is kept to the end: the model's as an own call, an agent's as one more ask", async () => {
  const byModel = await held({ rounds: 2 }, answers("a", "b", "c", "d"), [differ, verdict]);
  expect(byModel.expected).toEqual([5, 4, 2, 0].map((asks) => [asks, { own: true }]));
  const judged = [...answers("a", "b", "c", "d"), paperAnswer("", { data: verdict })];
  const byAgent = await held({ rounds: 2, judge: "judge" }, judged, [differ]);
  expect(byAgent.expected).toEqual([5, 5, 3, 1].map((asks) => [asks, { own: true }]));
  expect(byAgent.checked).toEqual(["judge", "one", "two"]);
});

test("each round is kept as it ends, and the verdict at last; agreement is looked for between rounds alone", async () => {
  const made = [paperAnswer("a", { files: [paperFile("a.txt")] }), ...answers("b", "c", "d")];
  const { end, reached, artifacts, handedOn, shown, bounds } = await held({ rounds: 2, concurrency: 1 }, made, [
    ...[differ, verdict],
  ]);
  expect(artifacts).toEqual(["transcript.md false", "transcript.md false", "transcript.md true"]);
  expect(reached.map((text) => text.match(/^## Round/gm)?.length)).toEqual([1, 2]);
  expect(handedOn).toEqual(["a.txt"]);
  expect(shown.decisions.map(({ name }) => name)).toEqual(["check_agreement", "give_verdict"]);
  expect(bounds).toMatchObject([
    { concurrency: 1, turnDeadlineMs: 300_000 },
    { concurrency: 1, turnDeadlineMs: 300_000 },
  ]);
  expect(end).toMatchObject({ data: { stop: "rounds", rounds: 2 } });
});

test("a debate in which nobody speaks any more ends with what was said, and one in which nobody ever spoke fails", async () => {
  const turns = [...answers("a", "b"), silent("one"), silent("two")];
  const { end } = await held({ rounds: 4 }, turns, [differ, verdict]);
  expect(end).toMatchObject({ data: { stop: "silence", rounds: 2, arguments: [{ number: 1 }, { number: 2 }] } });
  const none = await held({ rounds: 4 }, [silent("one"), silent("two")], []);
  expect(none.end).toMatchObject({
    code: "task_failed",
    message: "No debater gave an argument. A: one failed: no comment B: two failed: no comment",
  });
  expect(none.shown.decisions).toEqual([]);
});
