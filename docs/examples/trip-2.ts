import { AppError } from "manyhands";
import { defineFlow, outcomeText } from "manyhands/flows";
import { trip as first } from "./trip.ts";

/** The trip, which now asks the person first. Trips that began before go on as they were. */
export const trip = defineFlow({
  name: first.name,
  description: first.description,
  example: first.example,
  body: 2,
  async perform(flow) {
    flow.expect(1);
    const likes = await flow.askPerson(`What do you like to see in ${flow.goal}?`);
    const text = `Plan a day in ${flow.goal} for someone who likes ${likes}.`;
    const day = await flow.ask("concierge", { text });
    if (day.state !== "completed") throw new AppError("task_failed", outcomeText(day));
    return { answer: day.answer };
  },
  former: [{ body: 1, perform: first.perform }],
});
