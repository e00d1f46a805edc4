import type * as z from "zod";
import { AppError, messageOf } from "../errors.ts";
import type { Effect, Run } from "../runs/run.ts";
import { refuseSpec } from "../spec.ts";
import type { DurableContext } from "./durable-context.ts";
import { type Reach, reachOfAny } from "./reach.ts";
import { failure, type RiskContext, type Tool, type ToolContext, type ToolResult } from "./tool.ts";
import { inputSchemaOf, onInput, parseInput } from "./tool-input.ts";

/**
 * Defines a tool from a Zod object schema and a function. `run` returns the text the model reads,
 * or a whole result; an error it throws becomes an error result with its message. It is not called
 * if the input does not fit or the signal has aborted.
 */
export function defineTool<Input extends z.ZodObject>(
  spec: {
    readonly name: string;
    readonly description: string;
    readonly input: Input;
    readonly effect: Effect | ((input: z.output<Input>) => Effect);
    readonly run: (input: z.output<Input>, context: ToolContext) => Promise<string | ToolResult>;
    /** As `Tool.risk`, with the parsed input. */
    readonly risk?: (input: z.output<Input>, context: RiskContext) => Promise<string | undefined>;
    /** As `Tool.impossible`, with the parsed input. An `AppError` that it throws is its answer. */
    readonly impossible?: (input: z.output<Input>, context: RiskContext) => Promise<string | undefined>;
    /** As `Tool.sameKind`, with the parsed input. */
    readonly sameKind?: (input: z.output<Input>, risk: string | undefined) => string | undefined;
    /** As `Tool.reach`, with the parsed input. */
    readonly reach?: Reach<z.output<Input>>;
    /** As `Tool.edits`, with the parsed input. */
    readonly edits?: true | ((input: z.output<Input>) => readonly string[]);
    /** As `Tool.setsPart`, with the parsed input. */
    readonly setsPart?: (input: z.output<Input>) => boolean;
    /** As `Tool.views`, with the parsed input. */
    readonly views?: (input: z.output<Input>) => string | undefined;
    /** As `Tool.callDurably`, with the parsed input. */
    readonly runDurably?: (input: z.output<Input>, run: Run, context: DurableContext) => Promise<string | ToolResult>;
  } & Pick<
    Tool,
    | "family"
    | "opens"
    | "neededFor"
    | "needsSight"
    | "parallel"
    | "actsOn"
    | "endsTask"
    | "release"
    | "brings"
    | "alwaysJudged"
  >,
): Tool {
  const fault = faultIn(spec);
  if (fault !== undefined) refuseSpec(fault);
  const { name, description, input, effect, run, risk, impossible, sameKind, reach, ...others } = spec;
  const { edits, setsPart, views, runDurably, ...rest } = others;
  return {
    ...rest,
    ...(risk && { risk: onInput(name, input, risk, Promise.resolve(undefined)) }),
    ...(impossible && { impossible: onInput(name, input, told(impossible), Promise.resolve(undefined)) }),
    ...(sameKind && { sameKind: onInput(name, input, sameKind, undefined) }),
    ...(reach && { reach: reachOfAny(name, input, reach) }),
    ...(edits && { edits: edits === true ? edits : onInput(name, input, edits, []) }),
    ...(setsPart && { setsPart: onInput(name, input, setsPart, false) }),
    ...(views && { views: onInput(name, input, views, undefined) }),
    ...(runDurably && { callDurably: durably(name, input, runDurably) }),
    name,
    description,
    inputSchema: inputSchemaOf(input),
    effect: typeof effect === "string" ? () => effect : onInput(name, input, effect, "pure"),
    async call(raw, context) {
      context.signal.throwIfAborted();
      const parsed = parseInput(name, input, raw);
      if (!parsed.ok) return { ...failure(parsed.problem), takenIn: [] };
      try {
        return asResult(name, await run(parsed.data, context));
      } catch (error) {
        context.signal.throwIfAborted();
        return failure(messageOf(error));
      }
    },
  };
}

/** What it says, or the sentence of the `AppError` it throws. */
function told<Given extends readonly unknown[]>(why: (...given: Given) => Promise<string | undefined>): typeof why {
  return (...given) =>
    why(...given).catch((error: unknown) => {
      if (error instanceof AppError) return error.message;
      throw error;
    });
}

const effects: readonly Effect[] = ["pure", "idempotent", "once"];
const toolName = /^[A-Za-z][\w-]{0,63}$/;

/** What is wrong with the definition, for callers without a type checker. */
function faultIn(spec: { readonly [field: string]: unknown }): string | undefined {
  const { name, description, input, effect, run } = spec;
  if (typeof name !== "string" || !toolName.test(name))
    return `A tool's name is made of letters, digits, _ and -, at most 64; ${JSON.stringify(name) ?? "none"} is not.`;
  if (typeof description !== "string") return `The tool ${name} needs a text as its description.`;
  if (typeof (input as z.ZodObject | undefined)?.safeParse !== "function" || !("shape" in (input as object)))
    return `The tool ${name} needs a Zod object as its input, as in z.strictObject({}).`;
  if (typeof effect !== "function" && !effects.includes(effect as Effect))
    return `The tool ${name} needs an effect: ${effects.join(", ")}, or a function of the input.`;
  return typeof run === "function" ? undefined : `The tool ${name} needs a function as its run.`;
}

function durably<Input extends z.ZodObject>(
  name: string,
  input: Input,
  work: (input: z.output<Input>, run: Run, context: DurableContext) => Promise<string | ToolResult>,
): NonNullable<Tool["callDurably"]> {
  return async (raw, run, context) => {
    const parsed = parseInput(name, input, raw);
    return parsed.ok ? asResult(name, await work(parsed.data, run, context)) : failure(parsed.problem);
  };
}

/** The types allow nothing but these two, but what `response.json()` resolves to has none. */
function asResult(name: string, result: string | ToolResult): ToolResult {
  if (typeof result === "string") return { text: result, isError: false };
  if (typeof result?.text === "string") return result;
  const got = result === undefined || result === null ? String(result) : `a value of type ${typeof result}`;
  return failure(`The tool ${name} ran and returned ${got}; its function has to return a text or a ToolResult.`);
}
