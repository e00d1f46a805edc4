import * as z from "zod";
import type { AgentEntry, Skill } from "./agent.ts";
import { messageOf } from "./errors.ts";
import type { AskOutcome } from "./events/ask-outcome.ts";
import type { FlowEvent } from "./events/events.ts";
import type { Json } from "./json.ts";
import type { Part, PeerArtifact } from "./message.ts";
import type { JsonSchema } from "./model.ts";
import { bodyFault } from "./runs/bodies.ts";
import type { Run } from "./runs/run.ts";
import type { FlowSettings } from "./runs/task.ts";
import { nameFault, refuseSpec, titleOf } from "./spec.ts";
import type { StoredFile } from "./workspace.ts";

/** A question to the model whose answer has a schema. */
export type Decision<Schema extends z.ZodObject> = {
  /** What is decided, as a tool's name: `make_plan`. Also the step's name in the journal. */
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** The material for the decision. */
  readonly text: string;
  readonly schema: Schema;
  /** What is wrong with a value that fits the schema; undefined when nothing is. */
  readonly check?: (value: z.output<Schema>) => string | undefined;
};

/**
 * The beginning of a file, and the end too if it is a text. Without `text` for a file that is
 * neither a text nor a document, or that is not shown. `size` in bytes.
 */
export type Excerpt = { readonly name: string; readonly size: number; readonly text?: string };

/** What an agent is asked: a text and, optionally, files or other parts. */
export type AskMessage = {
  readonly text: string;
  readonly parts?: readonly Part[];
  /** For an agent that is a flow: which agents work in it, and its options. */
  readonly settings?: FlowSettings | undefined;
};

/** Options of an ask. */
export type AskOptions = {
  /**
   * Milliseconds after which the agent's task is canceled; the flow's own time limit applies too.
   */
  readonly deadlineMs?: number;
  /** A conversation at this agent to continue: the `contextId` of an earlier outcome. */
  readonly contextId?: string;
  /**
   * A JSON Schema that the answer's data should fit, as `z.toJSONSchema` makes it; agents that are
   * not ours may ignore it.
   */
  readonly outputSchema?: JsonSchema | undefined;
  /**
   * Whether the answer becomes the flow's own: the agent gets the schema that the caller wants, its
   * data becomes the flow's, and its text is streamed as the flow's answer.
   */
  readonly isAnswer?: boolean;
  /**
   * Whether messages that the person sends while the agent works are sent on to it, which reads
   * them before its next turn. Otherwise they wait for `receiveMessages`. Only while no branch is
   * running.
   */
  readonly passMessages?: boolean;
};

/**
 * A text for the model to write. `isAnswer`: it becomes the flow's answer and is streamed as such.
 */
export type Writing = {
  readonly name: string;
  readonly instructions: string;
  readonly text: string;
  readonly isAnswer?: boolean;
};

/**
 * What a flow's body works with: a durable run, and the verbs of a flow over it. The flow's
 * branches share everything but `run`. Between these verbs a body is deterministic: it decides by
 * their results, never by which of two branches was first.
 */
export interface Flow {
  readonly run: Run;
  /** The task, in the caller's words. */
  readonly goal: string;
  /**
   * What came with it: files, addresses and data; files the person has sent since; and those of the
   * previous task in this conversation.
   */
  readonly files: readonly Part[];
  /** What was asked and answered earlier in this conversation; empty at its start. */
  readonly earlier: string;
  /** The agents to ask: those the caller chose, in that order, otherwise all in the registry. */
  readonly agents: readonly AgentEntry[];
  /** Whether the caller chose them. */
  readonly isChosen: boolean;
  /**
   * Announces how many asks are still to come, so that the remaining budget is shared among them.
   * With `own`, this flow's own model calls count as one more. If never called: one ask, no calls
   * of its own.
   */
  expect(asks: number, options?: { readonly own?: boolean }): void;
  /**
   * Asks an agent and waits durably for the outcome. `agent` is a name, an address, or `skill:`
   * followed by a skill's id or some words about it. A transient failure is retried once; any other
   * failure is an outcome. Rejects with `invalid_input` for an unknown agent, and with the error of
   * a limit that is reached (`step_limit`, `token_limit`, `cost_limit`, `time_limit`).
   */
  ask(agent: string, message: AskMessage, options?: AskOptions): Promise<AskOutcome>;
  /** Throws `invalid_input` for an unknown agent. An address is not checked. */
  check(agent: string): void;
  /**
   * Runs the branches, started in order, at most `concurrency` at once, and returns their results
   * in order. If one rejects, the others are aborted, their tasks at agents are canceled, and the
   * rejection is thrown.
   */
  all<T>(branches: readonly ((flow: Flow) => Promise<T>)[], options?: { readonly concurrency?: number }): Promise<T[]>;
  /**
   * The same flow over another run: for branches of `run.race` and the like. `cancelOpen` cancels
   * what the losers asked; call `expect` with the asks of all branches, or the first takes the
   * whole budget.
   */
  over(run: Run): Flow;
  /**
   * Cancels the tasks at agents that this flow's run asked for and that are still open: for use
   * after a `run.race`.
   */
  cancelOpen(): Promise<void>;
  /** Asks the model for a decision that fits a schema; see `Decision`. */
  decide<Schema extends z.ZodObject>(decision: Decision<Schema>): Promise<z.output<Schema>>;
  /** Has the model write a text. */
  write(writing: Writing): Promise<string>;
  /**
   * Has the model write a text or, if something stands against that, decide what that is: its
   * instructions say when to do which. If nothing does, this takes a single request.
   */
  writeOrDecide<Schema extends z.ZodObject>(
    writing: Writing,
    decision: Pick<Decision<Schema>, "name" | "description" | "schema" | "check">,
  ): Promise<{ readonly text: string } | { readonly value: z.output<Schema> }>;
  /**
   * The beginnings of the first eight of the files, for a model to judge by: of texts, with their
   * ends, and of documents as `read_document` reads them.
   */
  excerpts(files: readonly StoredFile[]): Promise<readonly Excerpt[]>;
  /**
   * Asks the person behind the task and waits as long as it takes. Only while no branch is running.
   */
  askPerson(question: string, kind?: "question" | "approval"): Promise<string>;
  /** What the person has said since the last call. Only while no branch is running. */
  receiveMessages(): Promise<readonly string[]>;
  /** Records an event in the run's journal. */
  tell(event: FlowEvent): void;
  /** Adds an artifact, or replaces the one of this name. */
  artifact(name: string, parts: readonly Part[]): void;
  /**
   * Passes another agent's artifacts on to the caller, and its files: each as an artifact under its
   * own name unless one of the artifacts contains it.
   */
  handOn(files: readonly StoredFile[], artifacts?: readonly PeerArtifact[]): void;
  /** Records the result so far, which becomes the partial answer if the flow fails. */
  reached(text: string): void;
}

/** The result of a flow. The body itself passes on files. */
export type FlowResult = {
  readonly answer: string;
  readonly data?: Json;
  /**
   * The answer is a mere reply: over A2A, a caller that waits for it gets a message instead of a
   * task.
   */
  readonly reply?: true;
};

/** A request that shows what the flow is for, with agents by their names in this system. */
export type FlowExample = {
  readonly text: string;
  readonly agents?: readonly string[];
  readonly options?: { readonly [name: string]: Json };
  /** Files by name, with their text. */
  readonly files?: readonly { readonly name: string; readonly text: string }[];
};

/**
 * A former version of a flow's body. It gets the options with which its run began, as that release
 * recorded them.
 */
export type FlowBody = {
  readonly body: number;
  // A method, so that it may say which options that release had.
  perform(flow: Flow, options: never): Promise<FlowResult>;
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
  /** What a caller can set; every option has a default. JSON in, the same JSON out. */
  readonly options: z.ZodObject;
  readonly example: FlowExample;
  /**
   * What is set where a caller sets nothing: these agents if it names none, and the options it
   * leaves out. Recorded with each run.
   */
  readonly settings?: FlowSettings;
  /** Whether a message without a text can start it, with files or data alone. */
  readonly textless?: true;
  /** The names of the only agents it asks, whose entries are all that a run has to record. */
  readonly asks?: readonly string[];
  /**
   * Which version of `perform` this is, 1 if left out. Count it up when `perform` asks for other
   * steps than before, and keep what it was in `former`: runs in progress go on over an upgrade.
   */
  readonly body?: number;
  /**
   * What `perform` was, the newest first, two at most. A run goes on with the one it began with; if
   * that is no longer here, it pauses with `version_missing`.
   */
  readonly former?: readonly FlowBody[];
  /**
   * What is wrong with a request whose options are each valid, naming the field; undefined when
   * nothing is.
   */
  check?(request: { readonly agents?: readonly string[] | undefined; readonly options: unknown }): string | undefined;
  perform(flow: Flow, options: unknown): Promise<FlowResult>;
};

/**
 * Defines a flow whose body gets its options as its schema parses them. Title, version, skills and
 * options have defaults. Throws `config_invalid` with one sentence that says what is missing or
 * wrong.
 */
export function defineFlow<Options extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  spec: Pick<FlowDefinition, "name" | "description" | "example"> &
    Partial<Pick<FlowDefinition, "title" | "version" | "skills" | "body" | "former">> & {
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

/** What is wrong with the definition, for callers without a type checker. */
function faultIn(
  spec: Partial<Pick<FlowDefinition, "name" | "description" | "example" | "options" | "perform" | "body" | "former">>,
): string | undefined {
  const { name, description, example, perform } = spec;
  const unnamed = nameFault("A flow", name);
  if (unnamed !== undefined) return unnamed;
  if (typeof description !== "string") return `The flow ${name} needs a text as its description.`;
  if (typeof example?.text !== "string") return `The flow ${name} needs an example with a text: what one would ask it.`;
  if (typeof perform !== "function") return `The flow ${name} needs a function as its perform.`;
  const unset = spec.options && optionsFault(spec.options);
  if (unset !== undefined) return `The flow ${name} ${unset}.`;
  const { body, former = [] } = spec;
  const versions = bodyFault(body, former);
  return versions === undefined ? undefined : `The flow ${name} ${versions}.`;
}

/**
 * What is wrong with options that a caller may leave out, and whose schema is shown: a flow that
 * lacks either could be listed nowhere.
 */
function optionsFault(options: z.ZodObject): string | undefined {
  if (typeof options.safeParse !== "function" || !("shape" in options))
    return "needs a Zod object as its options, as in z.strictObject({})";
  try {
    z.toJSONSchema(options, { io: "input" });
  } catch (error) {
    return `has options that are not JSON: ${messageOf(error)}`;
  }
  const { error } = options.safeParse({});
  const faults = error?.issues.map(({ path, message }) => (path.length === 0 ? message : path.join(".")));
  if (faults === undefined) return undefined;
  const missing = "What a caller must give can be optional, and check say so if it is missing";
  return `needs options that may all be left out, as z.int().default(3) may: ${faults.join(", ")}. ${missing}`;
}
