import { expect, setDefaultTimeout, test } from "bun:test";
import { testAgent } from "manyhands/testing";
import { concierge } from "../src/agents/concierge.ts";

// The first task loads all that an agent is made of.
setDefaultTimeout(30_000);

test("the concierge checks the weather before it suggests anything", async () => {
  const { status, answer, requests } = await testAgent(concierge, {
    task: "Plan a day in Lisbon.",
    // What the model says, turn by turn. The tool is real; the web it sees is the test's.
    script: [{ calls: [{ name: "weather", args: { city: "Lisbon" } }] }, { text: "It rains: go to the Tile Museum." }],
    fetch: async (url) => new Response(`Lisbon: rain (asked at ${new URL(url).host})`),
  });
  expect([status, answer]).toEqual(["completed", "It rains: go to the Tile Museum."]);
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain("Lisbon: rain (asked at wttr.in)");
});

test("the concierge asks which city is meant", async () => {
  const script = [{ calls: [{ name: "ask_human", args: { inquire: "Which city?" } }] }, { text: "Lisbon it is." }];
  const { answer } = await testAgent(concierge, { task: "Plan a day out.", script, replies: ["Lisbon"] });
  expect(answer).toBe("Lisbon it is.");
});
