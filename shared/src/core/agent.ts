import type { Observation, Tool } from "./tools/tool.ts";
import type { Workspace } from "./workspace.ts";

/** One thing an agent can do, as listed on its card (A2A 1.0 section 4.4.5). */
export type Skill = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
};

/**
 * Limits of one run. Reaching one ends the run with the error named after it and the partial result
 * so far.
 */
export type Limits = {
  readonly steps: number;
  /** Input and output tokens together. */
  readonly tokens: number;
  readonly usd: number;
  readonly wallMs: number;
  /** How long `ask_human` waits for an answer; forever if left out. */
  readonly answerMs?: number;
  /** How many calls of one model turn are executed; the rest get an error result. */
  readonly callsPerTurn: number;
  /** How many calls of one turn run at the same time. */
  readonly parallelCalls: number;
  /** How many characters of one tool result the model reads; the full result goes to a file. */
  readonly resultCharacters: number;
};

/**
 * What a task did to the workspace: the paths of files it created or changed, and of files it
 * removed.
 */
export type TaskChanges = { readonly made: readonly string[]; readonly removed: readonly string[] };

/** The public description of an agent, or of a flow, which is called like one. */
export type AgentProfile = Pick<AgentDefinition, "name" | "title" | "description" | "version" | "skills">;

/** Options of `look`. */
export type LookOptions = {
  readonly signal: AbortSignal;
  /** Whether the model sees images. */
  readonly vision: boolean;
  /** The names of the tools called in the newest turns. */
  readonly recent: readonly string[];
  /**
   * The mark of the newest observation, if the conversation still has it and those it continues: an
   * observation may then tell only what has changed since.
   */
  readonly since?: string | undefined;
  /** Whether the conversation has no observation at all. */
  readonly isFirst: boolean;
};

/** An agent is data: its instructions, its tools and its limits. The loop runs it. */
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
  /** Appended to the end of one model call; never stored. */
  readonly turnHint?: (state: { readonly turn: number; readonly maxTurns: number }) => string | undefined;
  /**
   * What the model sees of something that changes, such as an open page: looked at before each
   * model call, added to the conversation after the newest results, and kept there. Undefined when
   * there is nothing new to see; a text equal to the last one is not added again. The caller bounds
   * its time and size.
   */
  readonly look?: (workspace: Workspace, options: LookOptions) => Promise<Observation | undefined>;
  readonly tools: readonly Listed[];
  /**
   * Further tools, listed again before each model call and each tool call. Names in `tools` take
   * precedence.
   */
  readonly moreTools?: MoreTools;
  readonly limits: Limits;
  /**
   * Makes further artifacts from the files a task leaves in the workspace. Called once at its end,
   * and again only after a crash.
   */
  readonly finish?: (
    workspace: Workspace,
    taskChanges: TaskChanges,
  ) => Promise<readonly { readonly name: string; readonly mediaType: string; readonly content: string }[]>;
  readonly toolChoice: "auto" | "required" | "none";
};

/** A tool result as the model read it. */
export type ToldResult = { readonly name: string; readonly text: string };

/**
 * The available tools, and the sources that are unavailable: by name, with the reason for people.
 */
export type ToolsListed = {
  readonly tools: readonly Tool[];
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
};

/**
 * Tools whose set may change while a task runs, such as those of MCP servers. Their calls are
 * recorded like any other, so a replay never lists them.
 */
export interface MoreTools {
  /**
   * The tools this principal can call now, and the sources that are unavailable. Waits a bounded
   * time for sources that have never answered, and reports the wait to `tell`. Rejects only with
   * the signal's reason.
   */
  list(principal: string, signal: AbortSignal, tell?: (waiting: string) => void): Promise<ToolsListed>;
  /**
   * The tools whose definitions the model gets. Where there are too many, those it has found so
   * far, according to the results it read in this task; and those that what the user `said` calls
   * for.
   */
  offer(tools: readonly Tool[], told: readonly ToldResult[], said: readonly string[]): readonly Tool[];
  /** Whether a tool of this name may ever be listed. */
  mayHave(name: string): boolean;
  /** Releases whatever is kept between calls for this conversation. */
  release(workspace: Workspace): Promise<void>;
}

/** An agent that a flow can ask, as the registry knows it. */
export type AgentEntry = {
  /** Its name in the registry. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly skills: readonly Skill[];
  /** The address of its card. */
  readonly url: string;
  /** A flow is asked like an agent, but only if the caller names it. */
  readonly kind: "agent" | "flow";
};

/** The agents a flow can ask. The gateway's registry is one. */
export interface Agents {
  /** The agents that can be asked now. */
  list(signal: AbortSignal): Promise<readonly AgentEntry[]>;
  /**
   * The agent whose card is at this address. Rejects with an AppError when there is no card or the
   * agent may not be asked.
   */
  read(url: string, signal: AbortSignal): Promise<AgentEntry>;
}

/**
 * The line that describes an agent to a model: its name, description and skills, with those of
 * their tags that say more.
 */
export function agentText({ name, description, skills }: AgentEntry): string {
  const said = `${description} ${skills.map((skill) => skill.name).join(" ")}`.toLowerCase();
  const told = new Set<string>();
  const able = skills.map((skill) => {
    const more = skill.tags.map((tag) => tag.toLowerCase()).filter((tag) => !said.includes(tag) && !told.has(tag));
    for (const tag of more) told.add(tag);
    return more.length === 0 ? skill.name : `${skill.name} (${more.join(", ")})`;
  });
  return `- ${name}: ${description}${able.length === 0 ? "" : ` Skills: ${able.join(", ")}.`}`;
}

/**
 * The tool by which an agent asks the person it works for; its results are that person's own words.
 */
export const askHumanName = "ask_human";

/** The tool by which an agent ends its task. */
export const terminateName = "terminate";
