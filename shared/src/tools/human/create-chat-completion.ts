import * as z from "zod";
import type { JsonSchema } from "../../core/model.ts";
import { answerSchema } from "../../core/tools/answer-schema.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";

/**
 * The tool with which an agent gives its final answer in a fixed form and ends its task. `shape` is
 * a Zod or JSON Schema of the answer; without one the answer is text. An answer of another shape
 * goes back to the model.
 */
export function createChatCompletion(shape?: z.ZodType | JsonSchema): Tool {
  const response = shape === undefined ? plainText : shape instanceof z.ZodType ? shape : answerSchema(shape);
  return defineTool({
    name: "create_chat_completion",
    description: "Gives the final answer in the requested form and ends the task.",
    input: z.strictObject({ response }),
    effect: "pure",
    brings: [],
    endsTask: true,
    async run({ response }) {
      const data = z.json().parse(response);
      const summary = typeof data === "string" ? data : JSON.stringify(data);
      return {
        text: summary,
        isError: false,
        end: { status: "success", summary, ...(shape !== undefined && { data }) },
      };
    },
  });
}

const plainText = z.string().describe("The answer.");
