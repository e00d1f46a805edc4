import type * as z from "zod";
import { AppError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Part, UserMessage } from "./message.ts";
import type { ImagePart, JsonSchema } from "./model.ts";
import { type Reach, reachOfAny } from "./reach.ts";
import type { Effect, Run } from "./run.ts";
import { refuseSpec } from "./spec.ts";
import type { TakenIn } from "./taken-in.ts";
import { inputSchemaOf, onInput, parseInput } from "./tool-input.ts";
import type { Workspace } from "./workspace.ts";

/** What a tool returns. A failure is a result too: the model reads it and continues. */
export type ToolResult = {
  readonly text: string;
  readonly isError: boolean;
  readonly images?: readonly ImagePart[];
  /** Where its content came from, if that differs from what its tool `brings`. */
  readonly takenIn?: TakenIn;
  /**
   * Ends the task with this outcome once the calls of the turn are done. `data` is a structured
   * answer.
   */
  readonly end?: { readonly status: "success" | "failure"; readonly summary: string; readonly data?: Json };
  /**
   * Not a result yet: the person must answer this question first; the call is then made again with
   * the answer and `state`. Text, images and end are ignored.
   */
  readonly asks?: { readonly question: string; readonly state: Json };
};

/**
 * A person's answer to a call that asked, and the `state` it asked with. `text` is undefined if
 * nobody answered in time.
 */
export type PersonAnswer = { readonly text: string | undefined; readonly state: Json };

/**
 * What a model sees of something that changes outside its messages, such as a page: made afresh for
 * each model call, shown at the end of the prompt, never stored.
 */
export type Observation = { readonly text: string; readonly images?: readonly ImagePart[] };

/**
 * What a tool asks the agent's model. `text` is what the instructions are about: data, never
 * presented as the user's words.
 */
export type Inquiry = {
  readonly instructions: string;
  readonly text: string;
  /** Ignored if the model in use cannot see images. */
  readonly images?: readonly ImagePart[];
  /** Tokens; defaults to 2,000. */
  readonly maxOutputTokens?: number;
};

/** What a call's risk is judged by, besides the call itself. */
export type RiskContext = {
  readonly workspace: Workspace;
  /** What the user said in this task and conversation, oldest first. */
  readonly said: readonly string[];
  /** Addresses that the asking agent was allowed to open. */
  readonly given: readonly string[];
  /** What the task has taken in beside that. */
  readonly takenIn: TakenIn;
  readonly signal: AbortSignal;
};

/** What a tool call may use. */
export interface ToolContext {
  readonly signal: AbortSignal;
  /**
   * The conversation's folder. Whatever outlives a call (a shell session, a plan) is kept per
   * workspace.
   */
  readonly workspace: Workspace;
  /** The same at every attempt of the same call. */
  readonly key: string;
  /**
   * How many characters of a result the model reads. A longer result loses its middle, so a tool
   * that can choose what to omit stays below the limit.
   */
  readonly resultCharacters: number;
  /** Present if the call asked a question before. */
  readonly answer?: PersonAnswer;
  /** Shows live output to current watchers. Never stored. */
  progress(text: string): void;
  /**
   * Fetches from the web under this server's egress policy: private addresses are refused and each
   * redirect is checked, as for our own tools. GET, or POST with a text body; resolves for any
   * status. Rejects with an AppError: `forbidden`, `too_large`, `timeout`, `unavailable`.
   */
  fetch(url: string | URL, request?: ToolRequest): Promise<Response>;
  /**
   * Asks the agent's model one thing, outside the conversation, and returns its text. Its usage
   * counts towards the task. Rejects with `token_limit`, `cost_limit` or `time_limit` when the
   * task's limits leave no room, with the model's AppError, or with the signal's reason.
   */
  ask(inquiry: Inquiry): Promise<string>;
}

/** Options of a tool's `fetch`. */
export type ToolRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: string;
  /** For the whole request; defaults to 30 seconds. */
  readonly timeoutMs?: number;
  /** Largest response in bytes; defaults to 10 million. */
  readonly maxBytes?: number;
};

/** The `fetch` of a server's tools: each request ends with the signal of the call that makes it. */
export type ToolFetch = (signal: AbortSignal, ...request: Parameters<ToolContext["fetch"]>) => Promise<Response>;

/** The `fetch` of a server without web access. */
export const noWeb: ToolFetch = async () => {
  throw new AppError("forbidden", "The web is switched off on this server.");
};

/** A share of a task's budget, reserved for a task that another agent does for it. */
export type SubBudget = {
  readonly budget: { readonly tokens: number; readonly usd: number; readonly wallMs: number };
  /** Releases the share; what was used of it counts as the task's own spending. */
  release(used: { readonly tokens: number; readonly usd: number; readonly unpriced: boolean } | undefined): void;
};

/** What a durable call may use besides the run. */
export interface DurableContext {
  /**
   * Puts the files among these parts into the workspace, in a step, and returns the parts with the
   * files' names there.
   */
  place(parts: readonly Part[]): Promise<readonly Part[]>;
  /** Like `place`, for files that others made for this task: they count as made by it. */
  adopt(parts: readonly Part[]): Promise<readonly Part[]>;
  /**
   * Files of the workspace as parts, stored in a step. Rejects with an AppError if one cannot be
   * read.
   */
  attach(paths: readonly string[]): Promise<readonly Part[]>;
  /**
   * Adds messages to the conversation that the user sent before the question, and that therefore do
   * not answer it.
   */
  receiveMessages(messages: readonly UserMessage[]): void;
  /**
   * Reserves this share, from 0 to 1, of what remains of the task's budget; time is not divided.
   */
  subBudget(share: number): SubBudget;
  /** How long a question to the person waits for its answer; forever if undefined. */
  readonly answerMs: number | undefined;
  /** How many agents the task has passed through. */
  readonly hops: number;
  /** What the user said, in their own words. */
  readonly said: readonly string[];
  /** What the task has taken in beside that. */
  readonly takenIn: TakenIn;
}

/** Something a model can call. MCP-mounted tools are of the same type. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /**
   * The family it belongs to, for `[agents.NAME] tools`; a tool without a family is always
   * available.
   */
  readonly family?: string;
  /**
   * Whether a call may be repeated after a crash; may depend on the input, which may be invalid.
   */
  effect(input: unknown): Effect;
  /**
   * Whether a call may run at the same time as others of its turn; otherwise the calls of a turn
   * run in the order the model wrote them. Defaults to true for calls whose effect is `pure`, and
   * to false for durable calls; a parallel durable call must make sure that a person's answers
   * reach the right call.
   */
  readonly parallel?: boolean;
  /** Whether the tool ends the task; only such tools are offered in a task's last turn. */
  readonly endsTask?: boolean;
  /**
   * A sentence that says what this call would do and why a person should decide about it; undefined
   * if nobody needs to. Written by code, never only in the words of a page or a model. Evaluated
   * when the model requests the call and again right before it is made. The input may be invalid.
   */
  risk?(input: unknown, context: RiskContext): Promise<string | undefined>;
  /** What its calls reach outside; nothing if left out. */
  readonly reach?: Reach;
  /**
   * Where the content of its results comes from, unless a result states its own `takenIn`: `[]` for
   * words of the model, the user or this server, `["web"]` for public web pages. Defaults to the
   * tool's name, which means that results may contain somebody else's instructions and private
   * data.
   */
  readonly brings?: TakenIn;
  /**
   * Whether calls may change files of the workspace, or which files: checkpoints undo the changes,
   * and checkers check the files named here.
   */
  readonly edits?: true | ((input: unknown) => readonly string[]);
  /** Invalid input and thrown errors become results; only an abort rejects. */
  call(input: unknown, context: ToolContext): Promise<ToolResult>;
  /**
   * If present, used instead of `call`: runs between steps with the durable verbs, for tools that
   * wait (for a person's answer or another agent's task). Must be deterministic outside `run.step`.
   */
  callDurably?(input: unknown, run: Run, context: DurableContext): Promise<ToolResult>;
  /**
   * Ends at once whatever the tool keeps between calls for this conversation (sessions, processes).
   * Called when a task is canceled.
   */
  release?(workspace: Workspace): Promise<void>;
}

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
    /** As `Tool.reach`, with the parsed input. */
    readonly reach?: Reach<z.output<Input>>;
    /** As `Tool.edits`, with the parsed input. */
    readonly edits?: true | ((input: z.output<Input>) => readonly string[]);
    /** As `Tool.callDurably`, with the parsed input. */
    readonly runDurably?: (input: z.output<Input>, run: Run, context: DurableContext) => Promise<string | ToolResult>;
  } & Pick<Tool, "family" | "parallel" | "endsTask" | "release" | "brings">,
): Tool {
  const fault = faultIn(spec);
  if (fault !== undefined) refuseSpec(fault);
  const { name, description, input, effect, run, risk, reach, edits, runDurably, ...rest } = spec;
  return {
    ...rest,
    ...(risk && { risk: onInput(name, input, risk, Promise.resolve(undefined)) }),
    ...(reach && { reach: reachOfAny(name, input, reach) }),
    ...(edits && { edits: edits === true ? edits : onInput(name, input, edits, []) }),
    ...(runDurably && { callDurably: waiting(name, input, runDurably) }),
    name,
    description,
    inputSchema: inputSchemaOf(input),
    effect: typeof effect === "string" ? () => effect : onInput(name, input, effect, "pure"),
    async call(raw, context) {
      context.signal.throwIfAborted();
      const parsed = parseInput(name, input, raw);
      if (!parsed.ok) return failure(parsed.problem);
      try {
        return asResult(await run(parsed.data, context));
      } catch (error) {
        context.signal.throwIfAborted();
        return failure(error instanceof Error ? error.message : String(error));
      }
    },
  };
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

function waiting<Input extends z.ZodObject>(
  name: string,
  input: Input,
  work: (input: z.output<Input>, run: Run, context: DurableContext) => Promise<string | ToolResult>,
): NonNullable<Tool["callDurably"]> {
  return async (raw, run, context) => {
    const parsed = parseInput(name, input, raw);
    return parsed.ok ? asResult(await work(parsed.data, run, context)) : failure(parsed.problem);
  };
}

function asResult(result: string | ToolResult): ToolResult {
  return typeof result === "string" ? { text: result, isError: false } : result;
}

/** An error result. */
export function failure(text: string): ToolResult {
  return { text, isError: true };
}
