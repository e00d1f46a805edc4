import * as z from "zod";
import type { AskOutcome } from "../core/events/ask-outcome.ts";
import type { AskMessage, AskOptions, Flow } from "../core/flow.ts";
import type { JsonSchema } from "../core/model.ts";
import { writtenObject } from "../models/arguments.ts";
import { outcomeText } from "./ask.ts";

/** The schema of an agent's answer, and a check of answers that fit it. */
export type AnswerForm<Value> = {
  readonly schema: z.ZodType<Value>;
  readonly check?: (value: Value) => string | undefined;
};

/**
 * An answer that fits the schema, or why there is none; either way the outcome of the newest ask,
 * with the calls of those before it.
 */
export type FormedAnswer<Value> = { readonly outcome: AskOutcome } & (
  | { readonly value: Value }
  | { readonly fault: string }
);

/** How often an agent may correct its answer. */
const maxRepairs = 2;

/**
 * Asks an agent for an answer that fits the schema; one that does not goes back with what is wrong,
 * in the same conversation, at most twice; an agent that may have forgotten it is told all again.
 */
export async function askInForm<Value>(
  flow: Flow,
  agent: string,
  { text, parts = [], settings }: AskMessage,
  form: AnswerForm<Value>,
  options: Omit<AskOptions, "outputSchema"> = {},
): Promise<FormedAnswer<Value>> {
  const outputSchema = formSchema(form.schema);
  let outcome = await flow.ask(agent, { text, parts, settings }, { ...options, outputSchema });
  for (let repairs = 0; ; repairs++) {
    if (outcome.state !== "completed") return { outcome, fault: outcomeText(outcome) };
    const read = readAnswer(outcome, form);
    if ("value" in read) return { outcome, value: read.value };
    if (repairs === maxRepairs) return { outcome, fault: `${outcome.agent} gave no usable answer: ${read.fault}` };
    const again = `Your answer cannot be used: ${read.fault}\nGive it once more, as a whole.`;
    const { contextId, remembers } = outcome;
    const next = remembers
      ? { text: again, settings }
      : { text: [text, again].filter(Boolean).join("\n\n"), parts, settings };
    const place = { ...options, outputSchema, ...(contextId !== "" && { contextId }) };
    outcome = withCallsOf(outcome.made, await flow.ask(agent, next, place));
  }
}

/** The outcome with the calls that were made for the answer before it, too. */
function withCallsOf(before: AskOutcome["made"], outcome: AskOutcome): AskOutcome {
  if (before === undefined || outcome.made === undefined) return outcome;
  const { calls, count } = outcome.made;
  return { ...outcome, made: { calls: [...before.calls, ...calls], count: before.count + count } };
}

/** The answer's JSON Schema without noise: the dialect, and bounds that every JSON number has. */
function formSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest;
}

function readAnswer<Value>(
  { data, answer }: AskOutcome,
  { schema, check }: AnswerForm<Value>,
): { value: Value } | { fault: string } {
  const fits = [data, writtenObject(answer)].flatMap((one) => (one === undefined ? [] : [schema.safeParse(one)]));
  const fit = fits.find(({ success }) => success) ?? fits[0];
  if (fit === undefined) return { fault: "it holds no JSON object." };
  if (!fit.success) return { fault: z.prettifyError(fit.error) };
  const fault = check?.(fit.data);
  return fault === undefined ? { value: fit.data } : { fault };
}
