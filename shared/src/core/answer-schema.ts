import * as z from "zod";
import type { JsonSchema } from "./model.ts";
import { inputSchemaOf } from "./tool-input.ts";

/** Whether an answer can be held to this schema: it is one that we can check, and can show to a model. */
export function isAnswerSchema(schema: JsonSchema): boolean {
  try {
    inputSchemaOf(z.strictObject({ response: z.fromJSONSchema(schema) }));
    return true;
  } catch {
    return false;
  }
}
