import { expect, test } from "bun:test";
import { flowSettings, settingsMetadata, takenInAtStart } from "./task.ts";

test.each([
  [0, undefined, []],
  // An agent that does not report its sources may have read anything; a report counts as it is.
  [1, undefined, ["task"]],
  [1, [], []],
  [1, ["web"], ["web"]],
  [0, ["web"], ["web"]],
] as const)("a task after %i agents that reports %j has taken in %j when it starts", (hops, takenIn, expected) => {
  expect(takenInAtStart({ hops, ...(takenIn && { takenIn }) })).toEqual([...expected]);
});

test.each([
  [{}, {}],
  [{ options: {} }, {}],
  [{ agents: ["swe"] }, { "manyhands/flow": { agents: ["swe"] } }],
  [{ options: { turns: 0 } }, { "manyhands/flow": { options: { turns: 0 } } }],
  [{ agents: ["swe"], options: {} }, { "manyhands/flow": { agents: ["swe"] } }],
  [{ agents: ["swe"], options: { turns: 2 } }, { "manyhands/flow": { agents: ["swe"], options: { turns: 2 } } }],
] as const)("the settings %j of a flow are sent as %j", (settings, metadata) => {
  expect(settingsMetadata(settings)).toEqual(metadata);
});

test("a flow is given 1 to 50 agents, each with a name, and nothing that is unknown", () => {
  const fits = (given: unknown) => flowSettings.safeParse(given).success;
  const agents = (count: number) => Array.from({ length: count }, (_, n) => String(n % 10));
  expect([0, 1, 50, 51].map((count) => fits({ agents: agents(count) }))).toEqual([false, true, true, false]);
  expect(flowSettings.parse({ agents: [" swe "] })).toEqual({ agents: ["swe"] });
  expect([{ agents: [" "] }, { agent: ["swe"] }, { options: 1 }].map(fits)).toEqual([false, false, false]);
  expect([{}, { options: { turns: 0, deep: [{}] } }].map(fits)).toEqual([true, true]);
});
