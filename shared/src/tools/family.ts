import type { AgentDefinition } from "../core/agent.ts";
import type { KeyedQueue } from "../core/keyed-queue.ts";
import type { Tool } from "../core/tool.ts";
import type { Egress } from "../machine/egress/egress.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import type { CodeTools } from "./code/code-tools.ts";
import type { Databases } from "./data/database/databases.ts";

/** How an agent sees what changes while it works, such as the open page. */
export type Observe = NonNullable<AgentDefinition["look"]>;

/** The tools that browse and the sight of the open page, or why there are none, in a sentence. */
export type OpenedBrowsing =
  | { readonly tools: readonly Tool[]; readonly look: Observe; readonly missing: undefined }
  | { readonly tools: readonly []; readonly look: undefined; readonly missing: string };

/** What a machine has for the tools of an agent that is served there. */
export type Machine = {
  readonly sandbox: Sandbox;
  /** `bash` and, where there is a Python, `python_execute`; none without a sandbox. */
  readonly shell: readonly Tool[];
  /** `web_search` and `web_fetch`; none where they are switched off. */
  readonly web: readonly Tool[];
  /** `computer_use`; none unless it is enabled and can be had. */
  readonly desktop: readonly Tool[];
  /** `delegate`; none for an agent that may ask no other. */
  readonly delegate: readonly Tool[];
  readonly browsing: OpenedBrowsing;
  /** The way out for tools that fetch; undefined where the web is switched off. */
  readonly egress: Egress | undefined;
  /** The databases of the conversations, each in a process of its own. */
  readonly databases: Databases;
  /** The tools for code, where the agent has them, and what keeps edits of one file apart. */
  readonly code: CodeTools | undefined;
  readonly edits: KeyedQueue;
};

/** What a family comes to on a machine: its tools, and what its agent sees. */
export type OpenedFamily = { readonly tools: readonly Tool[]; readonly look?: Observe | undefined };

/**
 * Tools of one kind, made of what the machine has when an agent is served there: a value that an
 * agent lists beside tools. Where the machine lacks what they need it comes to fewer tools, or
 * none.
 */
export interface ToolFamily {
  /** Its name in `[agents.NAME] tools`. */
  readonly family: string;
  /**
   * The names of all tools it can come to, also of those that this machine lacks: what
   * `[agents.NAME] approve` may name.
   */
  readonly toolNames: readonly string[];
  open(machine: Machine): OpenedFamily;
}

/** Whether it is a family, and not a tool. */
export function isFamily(listed: Tool | ToolFamily): listed is ToolFamily {
  return "open" in listed;
}
