import { expect, test } from "bun:test";
import type { Flow } from "manyhands/flows";
import { chooseDebaters, debaterName, givenDebaters } from "./positions.ts";

type Named = { readonly positions: readonly { readonly position: string; readonly agent: string }[] };
type Decision = {
  readonly text: string;
  readonly instructions: string;
  check(answer: Named): string | undefined;
};

/** A flow with so many agents, `one`, `two` and so on, whose model names these positions. */
function flowOf(count: number, isChosen: boolean, named: Named = { positions: [] }) {
  const agents = ["one", "two", "three", "four", "five"].slice(0, count);
  const asked: Decision[] = [];
  const flow = {
    isChosen,
    agents: agents.map((name) => ({
      name,
      title: name,
      url: `http://${name}.example`,
      description: `${name} argues.`,
      skills: [],
    })),
    goal: "Which?",
    earlier: "",
    decide: async (decision: Decision) => {
      asked.push(decision);
      return named;
    },
  } as unknown as Flow;
  return { flow, asked };
}
const by = (...names: readonly string[]): Named => ({
  positions: names.map((agent, n) => ({ agent, position: `position ${n}` })),
});

test.each([
  ["of any agents two or three", 5, false, undefined, "2 to 3", false],
  ["of two agents two", 2, false, undefined, "2", false],
  ["of a single agent two", 1, false, undefined, "2", false],
  ["of a single chosen agent two", 1, true, undefined, "2", false],
  ["of chosen agents each", 4, true, undefined, "4", true],
  ["as many as the caller wants", 5, false, 4, "4", false],
  ["as many as the caller wants of chosen agents", 3, true, 2, "2", false],
] as const)("there are %s", async (_, count, isChosen, wanted, debaters, each) => {
  const { flow, asked } = flowOf(count, isChosen);
  await chooseDebaters(flow, wanted);
  const [{ text = "" } = {}] = asked;
  expect(text).toContain(`\n\nName ${debaters} debaters for this.${each ? " Each agent is one of them." : ""}\n\n`);
  for (const { name } of flow.agents) expect(text).toContain(`${name} argues.`);
  expect(text).toContain("Which?");
});

test.each<readonly [number, boolean, number | undefined, Named, readonly string[]]>([
  [5, false, undefined, by("one", "two"), []],
  [5, false, undefined, by("one", "one", "two"), []],
  [5, false, undefined, by("one"), ["Name 2 to 3 debaters.", "At least two have to differ."]],
  [5, false, undefined, by("one", "two", "three", "four"), ["Name 2 to 3 debaters."]],
  [5, false, 2, by("one", "two", "three"), ["Name 2 debaters."]],
  [5, false, 2, by("one", "nobody"), ['There is no agent "nobody".']],
  [5, false, 2, by("who", "nobody"), ['There is no agent "who".', 'There is no agent "nobody".']],
  [3, true, undefined, by("one", "TWO", "three"), []],
  [3, true, undefined, by("one", "one", "one"), ["two argues for nothing.", "three argues for nothing."]],
  [3, true, 2, by("one", "two"), []],
  [
    2,
    false,
    2,
    { positions: [0, 1].map(() => ({ agent: "one", position: "the same" })) },
    ["At least two have to differ."],
  ],
])(
  "of %i agents (chosen: %p, wanted: %p) the model's answer is at fault: %#",
  async (count, isChosen, wanted, answer, faults) => {
    const { flow, asked } = flowOf(count, isChosen);
    await chooseDebaters(flow, wanted);
    expect(asked[0]?.check(answer)?.split("\n") ?? []).toEqual([...faults]);
  },
);

test("debaters are called by letters in their order, and their agents by their own names", async () => {
  const { flow } = flowOf(2, false, by("TWO", "one"));
  expect(await chooseDebaters(flow, 2)).toEqual([
    { name: "A", agent: "two", position: "position 0" },
    { name: "B", agent: "one", position: "position 1" },
  ]);
  expect([debaterName("Ann", 1), debaterName(undefined, 2)]).toEqual(["Ann", "C"]);
});

test("given positions keep their settings and names, and each agent is checked before any is asked", () => {
  const checked: string[] = [];
  const flow = { check: (agent: string) => void checked.push(agent) } as unknown as Flow;
  const settings = { tokens: 5 } as never;
  const given = [
    { agent: "one", position: "Tabs", name: "Ann" },
    { agent: "two", position: "Spaces", settings },
  ];
  expect(givenDebaters(flow, given)).toEqual([
    { agent: "one", position: "Tabs", name: "Ann" },
    { agent: "two", position: "Spaces", settings, name: "B" },
  ]);
  expect(checked).toEqual(["one", "two"]);
});
