import * as z from "zod";
import { askHumanName } from "../../core/agent.ts";
import { inWords } from "../../core/message.ts";
import { askPerson } from "../../core/tools/question.ts";
import { failure, type Tool } from "../../core/tools/tool.ts";
import { inputSchemaOf, parseInput } from "../../core/tools/tool-input.ts";

const input = z.strictObject({
  inquire: z.string().min(1),
});

/**
 * The tool that asks the person the agent works for. The task waits as `input-required`; the next
 * message on it is the answer. When the task limits that time, the agent then continues alone and
 * is informed.
 */
export function askHuman(): Tool {
  return {
    name: askHumanName,
    family: "human",
    brings: [],
    description: "Asks the person you work for and waits for the answer. For what only they know or decide.",
    inputSchema: inputSchemaOf(input),
    effect: () => "pure",
    call: async () => failure(`${askHumanName} works only in a run that can wait for an answer.`),
    async callDurably(raw, run, { place, answerMs }) {
      const parsed = parseInput(askHumanName, input, raw);
      if (!parsed.ok) return failure(parsed.problem);
      const answer = await askPerson(run, { question: parsed.data.inquire, kind: "question" }, answerMs);
      if (answer === undefined) return failure("Nobody answered in time. Go on as well as you can without an answer.");
      return { text: (await place(answer.parts)).map(inWords).join("\n"), isError: false };
    },
  };
}
