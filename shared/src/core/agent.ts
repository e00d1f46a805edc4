import type { Observation, Tool } from "./tool.ts";
import type { Workspace } from "./workspace.ts";

/** One thing an agent can do, as its card tells it (A2A 1.0 section 4.4.5). */
export type Skill = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
};

/**
 * Bounds of one run. A bound that is hit ends the run with its named error and what was reached so
 * far.
 */
export type Limits = {
  readonly steps: number;
  /** Input and output tokens together. */
  readonly tokens: number;
  readonly usd: number;
  readonly wallMs: number;
  /** How long `ask_human` waits for an answer; for ever when left out. */
  readonly answerMs?: number;
  /** Calls of one model turn that are executed; the rest are answered with an error. */
  readonly callsPerTurn: number;
  /** Calls of one turn that run at the same time. */
  readonly parallelCalls: number;
  /** Characters of one tool result that go to the model; the whole goes to a file. */
  readonly resultCharacters: number;
};

/**
 * What a task did to the workspace: the paths of the files it made or changed, and of those it
 * removed.
 */
export type TaskChanges = { readonly made: readonly string[]; readonly removed: readonly string[] };

/** What others are told of an agent, or of a flow, which is asked like one. */
export type AgentProfile = Pick<AgentDefinition, "name" | "title" | "description" | "version" | "skills">;

/**
 * How an agent looks: whether its model sees images, and the names of the tools it called in its
 * newest turns.
 */
export type LookOptions = {
  readonly signal: AbortSignal;
  readonly vision: boolean;
  readonly recent: readonly string[];
};

/**
 * An agent is data: what it is told, what it can use, how far it may go. The loop gives it life.
 */
export type AgentDefinition<Listed = Tool> = {
  /** The name in URLs, run kinds and the registry: lower case, dashes. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly Skill[];
  /** The system prompt. Stable during a run, so that provider caches hit. */
  readonly instructions: string;
  /** Added to the tail of one model call and never stored. */
  readonly stepHint?: (state: { readonly step: number; readonly maxSteps: number }) => string | undefined;
  /**
   * What the model sees anew before each thought, such as an open page: at the tail of that one
   * prompt, never stored. Undefined when there is nothing to see. Bounded in time and size by the
   * caller.
   */
  readonly look?: (workspace: Workspace, options: LookOptions) => Promise<Observation | undefined>;
  readonly tools: readonly Listed[];
  /**
   * Tools beside those, asked for anew in each model step and before each call. A name among
   * `tools` is never theirs.
   */
  readonly moreTools?: MoreTools;
  readonly limits: Limits;
  /**
   * Makes further artifacts from what a task leaves in the workspace: called once at its end, again
   * only after a crash.
   */
  readonly finish?: (
    workspace: Workspace,
    taskChanges: TaskChanges,
  ) => Promise<readonly { readonly name: string; readonly mediaType: string; readonly content: string }[]>;
  readonly toolChoice: "auto" | "required" | "none";
};

/** A result of a tool as the model read it. */
export type ToldResult = { readonly name: string; readonly text: string };

/** Tools, and the sources that none can be had of: by name, with the reason for people. */
export type ToolsListed = {
  readonly tools: readonly Tool[];
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
};

/**
 * Tools whose set may change while a task runs, such as those of other servers. Their calls are
 * recorded like any, so replay never asks here.
 */
export interface MoreTools {
  /**
   * What can be called now by this principal, and whose tools are not there. Waits, for a bounded
   * time, for those that were never heard of, and tells so; rejects only with the signal's reason.
   */
  list(principal: string, signal: AbortSignal, tell?: (waiting: string) => void): Promise<ToolsListed>;
  /**
   * Of those, what the model is told of, by what it has read in this task: where there are too
   * many, what it found among them.
   */
  offer(tools: readonly Tool[], told: readonly ToldResult[]): readonly Tool[];
  /** Whether a tool of this name may be among them at some time. */
  mayHave(name: string): boolean;
  /** Ends what is kept for this conversation between calls. */
  release(workspace: Workspace): Promise<void>;
}

/** An agent a flow can ask, as its registry knows it. */
export type AgentEntry = {
  /** What the registry calls it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly skills: readonly Skill[];
  /** Where its card is. */
  readonly url: string;
  /** A flow is asked like an agent, but only where the caller names it. */
  readonly kind: "agent" | "flow";
};

/** The agents a flow can ask. The gateway's registry is one. */
export interface Agents {
  /** Those that can be asked now. */
  list(signal: AbortSignal): Promise<readonly AgentEntry[]>;
  /**
   * The agent whose card is at this address. Rejects with an AppError when it has none or may not
   * be asked.
   */
  read(url: string, signal: AbortSignal): Promise<AgentEntry>;
}

/** An agent as a model reads of it: its name, what it is for, its skills. */
export function agentText({ name, description, skills }: AgentEntry): string {
  const able = skills.map((skill) => skill.name).join(", ");
  return `- ${name}: ${description}${able === "" ? "" : ` Skills: ${able}.`}`;
}

/**
 * The call by which an agent asks the person it works for; its results are that person's own words.
 */
export const askHumanName = "ask_human";

/** The call by which an agent ends its task. */
export const terminateName = "terminate";
