import { expect, test } from "bun:test";
import { flowForTest } from "manyhands/testing";
import { trip } from "./trip.ts";

test("the concierge gets the places that the guide named", async () => {
  await using system = await flowForTest(trip, {
    agents: {
      guide: [{ text: "The Forum and the Pantheon" }],
      concierge: [{ text: "The Pantheon, for it rains" }],
    },
  });
  const { answer } = await system.run({ text: "Rome", options: { places: 2 } });

  expect(answer).toBe("The Pantheon, for it rains");
  const [asked] = system.agent("concierge").model.requests;
  expect(JSON.stringify(asked?.body.messages)).toContain("The Forum and the Pantheon");
});
