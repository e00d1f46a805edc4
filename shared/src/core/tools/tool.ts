import { AppError } from "../errors.ts";
import type { Json } from "../json.ts";
import type { ImagePart, JsonSchema } from "../model.ts";
import type { Effect, Run } from "../runs/run.ts";
import type { TakenIn } from "../taken-in.ts";
import type { Workspace } from "../workspace.ts";
import type { DurableContext } from "./durable-context.ts";
import type { Reach } from "./reach.ts";

/** What a tool returns. A failure is a result too: the model reads it and continues. */
export type ToolResult = {
  readonly text: string;
  readonly isError: boolean;
  readonly images?: readonly ImagePart[];
  /** The file with the whole output, if `text` has only parts of it; `text` ends with its name. */
  readonly keptAt?: string;
  /** Where its content came from, if that differs from what its tool `brings`. */
  readonly takenIn?: TakenIn;
  /** What it shows of something that later results may show anew; left out for anything else. */
  readonly shows?: Shown;
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
 * What a result shows, so that a conversation need not hold the same twice, nor for long what is
 * out of date.
 */
export type Shown = {
  /** Names the thing, the same in every result about it: `file notes.md`. */
  readonly of: string;
  /** A hash of all of it, if the result or its call holds all of it. */
  readonly whole?: string;
  /**
   * Stands in for the result once a later one has all of it: what the result was, not what it said.
   * Left out: the result stays.
   */
  readonly brief?: string;
  /**
   * Stands in for the result if the conversation has the same whole already; says how to see it
   * again. Left out: the result is shown.
   */
  readonly again?: string;
};

/**
 * A person's answer to a call that asked, and the `state` it asked with. `text` is undefined if
 * nobody answered in time.
 */
export type PersonAnswer = { readonly text: string | undefined; readonly state: Json };

/**
 * What a model sees of something that changes outside its messages, such as a page: the whole of
 * it, or what has changed since an earlier observation. It stays in the conversation.
 */
export type Observation = {
  readonly text: string;
  readonly images?: readonly ImagePart[];
  /** Names it, so that a later one may tell only what has changed since. */
  readonly mark?: string;
  /** The mark of the observation that it continues; left out if it is complete in itself. */
  readonly since?: string;
  /**
   * What stays of it once it is out of date and the conversation is shortened; nothing by default.
   */
  readonly brief?: string;
};

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
  /** What the task has taken in besides the user's words. */
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
  /** Whether the agent's model sees images; undefined if that is not known. */
  readonly vision?: boolean;
  /** Present if the call asked a question before. */
  readonly answer?: PersonAnswer;
  /**
   * What the task has taken in besides its user's words; undefined for a call outside of a task.
   */
  readonly takenIn?: TakenIn;
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
   * The family it opens, its own or another: a model is offered the others of that family only once
   * the conversation has called this tool or one of them. So a prompt has only the tools that the
   * work has called for.
   */
  readonly opens?: string;
  /**
   * Whether words of the conversation call for the tool: of the user (`user`, and the names of
   * files they sent), or of a tool's result. Its family is offered only once some do, or a tool of
   * it was called. Must be fast and deterministic.
   */
  readonly neededFor?: (text: string, from: "user" | "result") => boolean;
  /** Whether its calls only show pictures: it is not offered to a model that sees none. */
  readonly needsSight?: true;
  /** Whether a call may be repeated after a crash, by its input, which may be invalid. */
  effect(input: unknown): Effect;
  /**
   * Whether a call may run at the same time as others of its turn; otherwise the calls of a turn
   * run in the order the model wrote them. Defaults to true for calls whose effect is `pure`, and
   * to false for durable calls; a parallel durable call must make sure that a person's answers
   * reach the right call.
   */
  readonly parallel?: boolean;
  /**
   * What its `once` calls act on in the state in which the model last saw it, such as `page`. When
   * one fails, later calls of the same turn that act on the same thing are not made: the model
   * meant them for what the failed call would have left.
   */
  readonly actsOn?: string;
  /**
   * Whether a call only sets one part of what it acts on, as writing into a field does: where such
   * a call fails, later ones of its turn that do the same are made. The input may be invalid.
   */
  setsPart?(input: unknown): boolean;
  /** Whether the tool ends the task; a model is told to call such a tool in a task's last turn. */
  readonly endsTask?: boolean;
  /**
   * A sentence that says what this call would do and why a person should decide about it; undefined
   * if nobody needs to. Written by code, never only in the words of a page or a model. Evaluated
   * when the model requests the call and again right before it is made. The input may be invalid.
   */
  risk?(input: unknown, context: RiskContext): Promise<string | undefined>;
  /**
   * Why this call could not succeed, whatever a person says; undefined if it might. Asked before a
   * person is, and reaches nothing outside. The input may be invalid.
   */
  impossible?(input: unknown, context: RiskContext): Promise<string | undefined>;
  /**
   * Whether a risk counts even where risky calls are allowed, so that a person is asked there too.
   */
  readonly alwaysJudged?: boolean;
  /**
   * What calls like this one have in common, for a permission that holds for the rest of a task:
   * `with pages of example.com`, which the person reads after "every call of" and the tool's name.
   * Two calls with the same text are alike. Written by code, and narrow: a person allows all that
   * it covers without seeing it. `risk` is the risk of this call; calls with another risk need
   * another text. Undefined: the call can only be allowed once, for example because the same input
   * may mean something else later. Left out: only calls with the same input and the same risk are
   * alike.
   */
  sameKind?(input: unknown, risk: string | undefined): string | undefined;
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
  /**
   * The file of the workspace whose present content a call returns, if it does nothing else. When a
   * conversation is shortened, its summary names that file instead of storing the result.
   */
  readonly views?: (input: unknown) => string | undefined;
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

/** An error result. */
export function failure(text: string): ToolResult {
  return { text, isError: true };
}
