import * as z from "zod";
import type { AgentEntry, Skill } from "./agent.ts";
import type { AskOutcome } from "./ask-outcome.ts";
import type { FlowEvent } from "./events.ts";
import type { Json } from "./json.ts";
import type { Part } from "./message.ts";
import type { Run } from "./run.ts";
import { nameFault, refuseSpec, titleOf } from "./spec.ts";
import type { AgentInput, FlowSettings } from "./task.ts";
import type { StoredFile } from "./workspace.ts";

/** A question to the model whose answer has a form. */
export type Decision<Schema extends z.ZodObject> = {
  /** What is decided, as a name of a tool: `make_plan`. Also the step's name in the journal. */
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** What there is to go by. */
  readonly text: string;
  readonly schema: Schema;
  /** What is wrong with a value of the right form; undefined when nothing is. */
  readonly check?: (value: z.output<Schema>) => string | undefined;
};

/** The beginning of a file; without `text` when it is none, or is not shown. Sizes in bytes. */
export type Excerpt = { readonly name: string; readonly size: number; readonly text?: string };

/** What an agent is asked: a text and, where there are any, files or other parts beside it. */
export type AskMessage = {
  readonly text: string;
  readonly parts?: readonly Part[];
  /** For an agent that is a flow: which agents work there, and how. */
  readonly settings?: FlowSettings | undefined;
};

/** How an agent is asked. */
export type AskOptions = {
  /**
   * Milliseconds after which the agent's task is canceled; the flow's own time bounds it besides.
   */
  readonly deadlineMs?: number;
  /** A conversation at this agent to go on in: the `contextId` of an earlier outcome. */
  readonly contextId?: string;
  /**
   * A JSON Schema that the answer's data should have; agents that are not of ours may not keep to
   * it.
   */
  readonly outputSchema?: AgentInput["outputSchema"];
  /**
   * Whether the answer is going to be the flow's own: the agent is told the form that the caller
   * wants, its data are the flow's, and what it writes is shown as the flow's answer while it is
   * written.
   */
  readonly isAnswer?: boolean;
};

/**
 * What the model is to write. `isAnswer`: it is going to be the flow's answer, and is shown as such
 * while it is written.
 */
export type Writing = {
  readonly name: string;
  readonly instructions: string;
  readonly text: string;
  readonly isAnswer?: boolean;
};

/**
 * What a flow's body works with: a durable run, and the verbs of a flow over it. All but `run` and
 * the facts of the task is shared by the flow's branches. Between these verbs a body is
 * deterministic: it decides by what they answered, never by which of two branches was first.
 */
export interface Flow {
  readonly run: Run;
  /** The task, in the caller's words. */
  readonly goal: string;
  /**
   * What came with it: files, addresses, data; files the person sent since; and those of the task
   * before it in this conversation.
   */
  readonly files: readonly Part[];
  /** What was asked and answered in this conversation before; empty where it begins. */
  readonly earlier: string;
  /** The agents to ask: those the caller chose, in that order, or else all the registry has. */
  readonly agents: readonly AgentEntry[];
  /** Whether the caller chose them. */
  readonly isChosen: boolean;
  /**
   * How many asks are still to come, this flow's own model calls being one more with `own`: what is
   * left of the budget is shared among them. One ask, without own calls, when it is never told.
   */
  expect(asks: number, options?: { readonly own?: boolean }): void;
  /**
   * Asks an agent and waits for what comes of it, durably. `agent` is a name, an address, or
   * `skill:` and a skill's id or some words about it. A failure that may pass is asked again once;
   * every other one is an outcome. Rejects with `invalid_input` for an agent nobody knows, and with
   * the error of a bound that is reached (`step_limit`, `token_limit`, `cost_limit`, `time_limit`).
   */
  ask(agent: string, message: AskMessage, options?: AskOptions): Promise<AskOutcome>;
  /** Throws `invalid_input` when nobody knows the agent. An address is taken as it is. */
  check(agent: string): void;
  /**
   * Runs the branches, at most `concurrency` at once, begun in their order; answers in their order.
   * When one rejects the others are aborted and their tasks at agents canceled, and the rejection
   * is thrown.
   */
  all<T>(branches: readonly ((flow: Flow) => Promise<T>)[], options?: { readonly concurrency?: number }): Promise<T[]>;
  /**
   * The same flow over another run: for branches of `run.race` and the like. `cancelOpen` sees to
   * what their losers asked; `expect` has to be told of what they all ask, or the first takes the
   * whole budget.
   */
  over(run: Run): Flow;
  /**
   * Cancels at the agents what was asked below this flow's run and is still open: for after a
   * `run.race`.
   */
  cancelOpen(): Promise<void>;
  /** A decision of the model, in the form of a schema; see `decide`. */
  decide<Schema extends z.ZodObject>(decision: Decision<Schema>): Promise<z.output<Schema>>;
  /** A text by the model. */
  write(writing: Writing): Promise<string>;
  /**
   * The beginnings of some files, for a model to judge by: of a few of them, and only of those that
   * are text.
   */
  excerpts(files: readonly StoredFile[]): Promise<readonly Excerpt[]>;
  /**
   * Asks the person behind the task; waits as long as it takes. Only while no branch is at work.
   */
  askPerson(question: string, kind?: "question" | "approval"): Promise<string>;
  /** What the person said since the last look. Only while no branch is at work. */
  receiveMessages(): Promise<readonly string[]>;
  /** Tells something in the run's journal. */
  tell(event: FlowEvent): void;
  /** Adds an artifact, or replaces the one of this name. */
  artifact(name: string, parts: readonly Part[]): void;
  /** Hands files on to the caller, each an artifact under its own name. */
  handOn(files: readonly StoredFile[]): void;
  /** Notes what the flow has to show so far: its partial answer, should it fail. */
  reached(text: string): void;
}

/** What a flow comes to. Files are handed on by the body itself. */
export type FlowResult = { readonly answer: string; readonly data?: Json };

/**
 * A run that shows what the flow is for: what to send it, with the agents by the names they have in
 * this system.
 */
export type FlowExample = {
  readonly text: string;
  readonly agents?: readonly string[];
  readonly options?: { readonly [name: string]: Json };
  /** Files by name, with their text. */
  readonly files?: readonly { readonly name: string; readonly text: string }[];
};

/** A flow is data and a body: ordinary TypeScript over a durable run. */
export type FlowDefinition = {
  /** The name in URLs and run kinds: lower case, dashes. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly Skill[];
  /** What a caller can set; everything has a default. JSON in, the same JSON out. */
  readonly options: z.ZodObject;
  readonly example: FlowExample;
  /**
   * What is wrong with a request whose options are right one by one, naming the field; undefined
   * when nothing is.
   */
  check?(request: { readonly agents?: readonly string[] | undefined; readonly options: unknown }): string | undefined;
  perform(flow: Flow, options: unknown): Promise<FlowResult>;
};

/**
 * Makes a flow whose body sees its options only as its schema lets them through. Its title,
 * version, skill and options have defaults. Throws `config_invalid` with one sentence that says
 * what is missing or wrong.
 */
export function defineFlow<Options extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  spec: Pick<FlowDefinition, "name" | "description" | "example"> &
    Partial<Pick<FlowDefinition, "title" | "version" | "skills">> & {
      readonly options?: Options;
      check?(request: {
        readonly agents?: readonly string[] | undefined;
        readonly options: z.output<Options>;
      }): string | undefined;
      perform(flow: Flow, options: z.output<Options>): Promise<FlowResult>;
    },
): FlowDefinition {
  const fault = faultIn(spec);
  if (fault !== undefined) refuseSpec(fault);
  const { name, description, title = titleOf(name) } = spec;
  const schema = (spec.options ?? z.strictObject({})) as Options;
  return {
    version: "0.1.0",
    skills: [{ id: name, name: title, description, tags: ["flow"], examples: [spec.example.text] }],
    ...spec,
    title,
    options: schema,
    check: ({ agents, options }) => spec.check?.({ agents, options: schema.parse(options) }),
    perform: (flow, options) => spec.perform(flow, schema.parse(options)),
  };
}

/** What is wrong, for people who are not held by the compiler. */
function faultIn(
  spec: Partial<Pick<FlowDefinition, "name" | "description" | "example" | "perform">>,
): string | undefined {
  const { name, description, example, perform } = spec;
  const unnamed = nameFault("A flow", name);
  if (unnamed !== undefined) return unnamed;
  if (typeof description !== "string") return `The flow ${name} needs a text as its description.`;
  if (typeof example?.text !== "string") return `The flow ${name} needs an example with a text: what one would ask it.`;
  return typeof perform === "function" ? undefined : `The flow ${name} needs a function as its perform.`;
}
