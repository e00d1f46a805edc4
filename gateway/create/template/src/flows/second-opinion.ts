import { AppError } from "manyhands";
import { defineFlow } from "manyhands/flows";

/**
 * A flow: ordinary code over agents. Their answers are recorded, so that it continues where it was
 * after a crash.
 */
export const secondOpinion = defineFlow({
  name: "second-opinion",
  description: "Asks the concierge, and has another agent look for what is wrong with the answer.",
  example: { text: "Plan a day in Lisbon." },
  async perform(flow) {
    flow.expect(2);
    const first = await flow.ask("concierge", { text: flow.goal });
    if (first.state !== "completed") throw new AppError("task_failed", `The concierge had no answer: ${first.state}.`);
    const second = await flow.ask("manus", {
      text: `Somebody asked: ${flow.goal}\n\nThis was suggested:\n${first.answer}\n\nSay in three sentences what is wrong with it.`,
    });
    if (second.state !== "completed")
      return { answer: `${first.answer}\n\nThere is no second opinion: ${second.state}.` };
    return { answer: `${first.answer}\n\nA second opinion:\n${second.answer}` };
  },
});
