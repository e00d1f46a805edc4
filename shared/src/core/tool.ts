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

/** What a tool gives back. A failure is a result too: the model reads it and goes on. */
export type ToolResult = {
  readonly text: string;
  readonly isError: boolean;
  readonly images?: readonly ImagePart[];
  /** What it brings into the task, where that is not what its tool `brings`. */
  readonly takenIn?: TakenIn;
  /**
   * Ends the task with this outcome once the calls of the turn are done. `data` is a structured
   * answer.
   */
  readonly end?: { readonly status: "success" | "failure"; readonly summary: string; readonly data?: Json };
  /**
   * Not a result yet: the call needs this answered by the person first, and is made again then with
   * the answer and `state`. Text, images and end are passed over.
   */
  readonly asks?: { readonly question: string; readonly state: Json };
};

/**
 * What a person answered to a call that asked, and the state it asked with. `text` is undefined
 * when nobody answered in time.
 */
export type PersonAnswer = { readonly text: string | undefined; readonly state: Json };

/**
 * What a model sees of something that changes outside its messages, such as a page: made anew for
 * each call of the model, shown at the prompt's tail, never stored.
 */
export type Observation = { readonly text: string; readonly images?: readonly ImagePart[] };

/**
 * What a tool asks the agent's model. `text` is what the instructions are about: data, never told
 * as the user's words.
 */
export type Inquiry = {
  readonly instructions: string;
  readonly text: string;
  /** Left out where the model in use sees none. */
  readonly images?: readonly ImagePart[];
  /** Tokens; 2,000 when left out. */
  readonly maxOutputTokens?: number;
};

/** What a risk is judged by besides the call. */
export type RiskContext = {
  readonly workspace: Workspace;
  /** What the user said in this task and conversation, oldest first. */
  readonly said: readonly string[];
  /** Addresses that the agent which gave the task was free to open. */
  readonly given: readonly string[];
  /** What the task has taken in beside that. */
  readonly takenIn: TakenIn;
  readonly signal: AbortSignal;
};

/** What a call may use. */
export interface ToolContext {
  readonly signal: AbortSignal;
  /**
   * The conversation's folder; what lives longer than a call (a shell session, a plan) is kept per
   * workspace.
   */
  readonly workspace: Workspace;
  /** The same at every attempt of the same call. */
  readonly key: string;
  /**
   * Characters of a result that go to the model: what is longer loses its middle, so a tool that
   * can choose what to leave out stays below.
   */
  readonly resultCharacters: number;
  /** Present when the call asked before. */
  readonly answer?: PersonAnswer;
  /** Shows live output to those who watch now. Never stored. */
  progress(text: string): void;
  /**
   * The web within this server's rules of where requests may go: private addresses are refused and
   * each redirect is checked, as for our own tools. GET, and POST with a text; any status is an
   * answer. Rejects with an AppError: `forbidden`, `too_large`, `timeout`, `unavailable`.
   */
  fetch(url: string | URL, request?: ToolRequest): Promise<Response>;
  /**
   * Asks the agent's model one thing, apart from the conversation, and answers its text. Counted to
   * the task; rejects with `token_limit`, `cost_limit` or `time_limit` when the task's bounds leave
   * no room, with the model's AppError, or with the signal's reason.
   */
  ask(inquiry: Inquiry): Promise<string>;
}

/** What a tool's `fetch` may say beside the address. */
export type ToolRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: string;
  /** For the whole of it, 30 seconds when left out. */
  readonly timeoutMs?: number;
  /** Bytes of the answer, 10 million when left out. */
  readonly maxBytes?: number;
};

/** The web for the tools of a server: each request within the signal of the call that makes it. */
export type ToolFetch = (signal: AbortSignal, ...request: Parameters<ToolContext["fetch"]>) => Promise<Response>;

/** Where there is no way to the web. */
export const noWeb: ToolFetch = async () => {
  throw new AppError("forbidden", "The web is switched off on this server.");
};

/** A part of what a task may spend, lent to a task that someone else does for it. */
export type SubBudget = {
  readonly budget: { readonly tokens: number; readonly usd: number; readonly wallMs: number };
  /** Ends the loan: what was used of it is the task's own spending. */
  release(used: { readonly tokens: number; readonly usd: number; readonly unpriced: boolean } | undefined): void;
};

/** What a call that waits may use besides the run. */
export interface DurableContext {
  /**
   * Puts the files among these parts into the workspace, in a step, and answers the parts with the
   * names they have there.
   */
  place(parts: readonly Part[]): Promise<readonly Part[]>;
  /** As `place`, for files that others made for this task: they count as made by it. */
  adopt(parts: readonly Part[]): Promise<readonly Part[]>;
  /**
   * Files of the workspace as parts, stored in a step. Rejects with an AppError for one that cannot
   * be read.
   */
  attach(paths: readonly string[]): Promise<readonly Part[]>;
  /** Takes in what the user said before a question was asked, which is no answer to it. */
  receiveMessages(messages: readonly UserMessage[]): void;
  /**
   * Lends this share, from 0 to 1, of what the task has left and has not lent yet; its time is lent
   * whole.
   */
  subBudget(share: number): SubBudget;
  /** How long a question to the person waits for its answer; for ever when undefined. */
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
  /** The family it belongs to, for `[agents.NAME] tools`; a tool of none is always there. */
  readonly family?: string;
  /**
   * What a repetition after a crash would do, by input where that matters. Bad input may be given.
   */
  effect(input: unknown): Effect;
  /**
   * Whether a call may run at the same time as others of its turn. Left out: when its effect is
   * `pure`; a call that waits only when this says so, and it then sees to it that what a person
   * says reaches the right one. The calls of a turn otherwise run in the order the model wrote
   * them.
   */
  readonly parallel?: boolean;
  /** Whether the tool is there to end the task: what is left in its last turn. */
  readonly endsTask?: boolean;
  /**
   * A sentence that says what this very call would do and why a person should decide about it;
   * undefined when nobody needs to. Made by code, never in a page's or a model's words alone. Asked
   * when the model wants the call and again right before it is made. Bad input may be given.
   */
  risk?(input: unknown, context: RiskContext): Promise<string | undefined>;
  /** What its calls reach outside; nothing when left out. */
  readonly reach?: Reach;
  /**
   * What its results bring into the task, where they do not tell: nothing (`[]`) for words of the
   * model, the user or this server, `["web"]` for what anybody can read on the web. When left out,
   * the tool's name: what it tells may hold orders of somebody else, and what not everybody may
   * know.
   */
  readonly brings?: TakenIn;
  /**
   * Whether calls may change files of the workspace, or which ones: checkpoints undo that, and
   * checkers look at those that are named.
   */
  readonly edits?: true | ((input: unknown) => readonly string[]);
  /** Bad input and thrown errors come back as results; only an abort rejects. */
  call(input: unknown, context: ToolContext): Promise<ToolResult>;
  /**
   * When present, used instead of `call`: runs between steps with the durable verbs, for tools that
   * wait (a person's answer, another agent's task). Must be deterministic outside `run.step`.
   */
  callDurably?(input: unknown, run: Run, context: DurableContext): Promise<ToolResult>;
  /**
   * Ends at once what the tool keeps for this conversation between calls (sessions, processes).
   * Called when a task is canceled.
   */
  release?(workspace: Workspace): Promise<void>;
}

/**
 * A tool from a Zod object schema and a function. `run` returns the text the model reads, or a
 * whole result; what it throws becomes an error result with the message. It is not called when the
 * input does not fit or the signal has aborted.
 */
export function defineTool<Input extends z.ZodObject>(
  spec: {
    readonly name: string;
    readonly description: string;
    readonly input: Input;
    readonly effect: Effect | ((input: z.output<Input>) => Effect);
    readonly run: (input: z.output<Input>, context: ToolContext) => Promise<string | ToolResult>;
    /** As `Tool.risk`, with the input as its schema lets it through. */
    readonly risk?: (input: z.output<Input>, context: RiskContext) => Promise<string | undefined>;
    /** As `Tool.reach`, with the input as its schema lets it through. */
    readonly reach?: Reach<z.output<Input>>;
    /** As `Tool.edits`, with the input as its schema lets it through. */
    readonly edits?: true | ((input: z.output<Input>) => readonly string[]);
    /**
     * In place of `run` where a run can wait: as `Tool.callDurably`, with the input as its schema
     * lets it through.
     */
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

/** What is wrong, for people who are not held by the compiler. */
function faultIn(spec: { readonly [field: string]: unknown }): string | undefined {
  const { name, description, input, effect, run } = spec;
  if (typeof name !== "string" || !toolName.test(name))
    return `A tool's name is made of letters, digits, _ and -, at most 64; ${JSON.stringify(name) ?? "none"} is not.`;
  if (typeof description !== "string") return `The tool ${name} needs a text as its description.`;
  if (typeof (input as z.ZodObject | undefined)?.safeParse !== "function" || !("shape" in (input as object)))
    return `The tool ${name} needs a Zod object as its input, as in z.strictObject({}).`;
  if (typeof effect !== "function" && !effects.includes(effect as Effect))
    return `The tool ${name} needs to say its effect: ${effects.join(", ")}, or a function of the input.`;
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
