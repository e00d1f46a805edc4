import { expect, test } from "bun:test";
import { flowForTest } from "manyhands/testing";
import { trip as first } from "./trip.ts";
import { trip } from "./trip-2.ts";

test("a new trip asks the person first", async () => {
  await using system = await flowForTest(trip, { agents: { concierge: [{ text: "The Pantheon" }] } });
  const id = await system.start({ text: "Rome" });
  await system.event(id, "question-asked");
  await system.say(id, "domes");
  expect((await system.until(id, "completed")).output).toMatchObject({ answer: "The Pantheon" });
});

test("a trip that began before goes on as it was", async () => {
  await using system = await flowForTest(first, {
    agents: { guide: [{ text: "The Pantheon", delayMs: 500 }], concierge: [{ text: "Walk to the Pantheon" }] },
  });
  const id = await system.start({ text: "Rome", options: { places: 2 } });
  await system.event(id, "agent-asked");
  await system.upgrade(trip);
  expect((await system.until(id, "completed")).output).toMatchObject({ answer: "Walk to the Pantheon" });
});
