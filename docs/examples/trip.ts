import { AppError } from "manyhands";
import { type AskOutcome, defineFlow, outcomeText } from "manyhands/flows";
import * as z from "zod";

/** The guide names places, then the concierge makes a day of them. */
export const trip = defineFlow({
  name: "trip",
  title: "Trip",
  description: "Plans a day in a city: one agent names places, another fits them to the weather.",
  version: "1.0.0",
  skills: [],
  options: z.strictObject({
    places: z.int().min(1).max(9).default(3).describe("How many places the guide names."),
  }),
  example: { text: "Rome", agents: ["guide", "concierge"] },
  async perform(flow, { places }) {
    flow.expect(2);
    const ideas = answered(await flow.ask("guide", { text: `Name ${places} places to see in ${flow.goal}.` }));
    const text = `Plan a day in ${flow.goal} with the places that fit today's weather:\n\n${ideas}`;
    return { answer: answered(await flow.ask("concierge", { text })) };
  },
});

/** What a completed agent answered. Any other outcome fails the flow with its reason. */
function answered(outcome: AskOutcome): string {
  if (outcome.state !== "completed") throw new AppError("task_failed", outcomeText(outcome));
  return outcome.answer;
}
