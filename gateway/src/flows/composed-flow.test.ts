import { expect, test } from "bun:test";
import type { ComposedFlow } from "manyhands/internal/config/flow-config";
import { defineFlow } from "manyhands/internal/core/flow";
import * as z from "zod";
import { composedFlow } from "./composed-flow.ts";

const base = defineFlow({
  name: "rounds",
  title: "Rounds",
  description: "Asks in rounds.",
  version: "1.0.0",
  skills: [],
  options: z.strictObject({ rounds: z.int().max(5).default(2) }),
  example: { text: "x" },
  check: ({ agents, options }) =>
    agents?.length === 1 ? "it needs two agents" : options.rounds === 4 ? "four rounds are too many" : undefined,
  perform: async () => ({ answer: "x" }),
});
const composed = (changes: Partial<ComposedFlow> = {}) =>
  composedFlow(
    "month-end",
    { flow: "rounds", settings: { agents: ["a", "b"] }, origin: "manyhands.toml, line 3", ...changes },
    [{ ...base, name: "other" }, base],
  );

test("a composed flow is the body of another under its own name, with what is set", () => {
  const settings = { agents: ["a", "b"], options: { rounds: 3 } };
  const skill = { id: "month-end", name: "Month End", tags: ["flow", "rounds"], examples: [] };
  expect(composed({ settings })).toEqual({
    ...base,
    name: "month-end",
    title: "Month End",
    description: "Rounds, with its agents and options set.",
    skills: [{ ...skill, description: "Rounds, with its agents and options set." }],
    example: { text: "Rounds, with its agents and options set." },
    settings,
  });
  expect(composed({ title: "Closing", description: "Closes the month." })).toMatchObject({
    title: "Closing",
    description: "Closes the month.",
    skills: [{ name: "Closing", description: "Closes the month." }],
  });
});

test.each([
  [{ flow: "round" }, 'there is no flow "round" to compose. There are: other, rounds'],
  [{ settings: { options: { rounds: 6 } } }, "options.rounds: "],
  [{ settings: { options: { round: 6 } } }, "options.round: is not known; there are rounds"],
  [{ settings: { options: { turns: 1 } } }, "turns"],
  [{ settings: { agents: ["a"] } }, "it needs two agents"],
  [{ settings: { options: { rounds: 4 } } }, "four rounds are too many"],
])("what cannot be composed is refused where it was set, with the reason: %j", (changes, why) => {
  const refused = () => composed(changes as Partial<ComposedFlow>);
  expect(refused).toThrow(why);
  expect(refused).toThrow("manyhands.toml, line 3: [flows.month-end]: ");
});
