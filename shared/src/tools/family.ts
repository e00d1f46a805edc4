import type { AgentDefinition } from "../core/agent.ts";
import type { Tool } from "../core/tools/tool.ts";

/** Shows a model what changes while it works, such as the open page: an agent's `look`. */
export type Observe = NonNullable<AgentDefinition["look"]>;

/**
 * The tools that a machine has for an agent served there, grouped by what they need from it. They
 * are made for the agent's first task, so that a server that has none yet need not load them.
 */
export type ToolMachine = {
  /** `planning`, `ask_human` and `see_image`, which need nothing. */
  readonly planning: Tool;
  readonly askHuman: Tool;
  readonly seeImage: Tool;
  /** `bash` and, when there is a Python, `python_execute`; none without a sandbox. */
  readonly shell: readonly Tool[];
  /** `read_document` and `write_document`. */
  readonly documents: readonly Tool[];
  /** `unpack`. */
  readonly archives: readonly Tool[];
  /** `web_search` and `web_fetch`; none when the web is disabled. */
  readonly web: readonly Tool[];
  /** `computer_use`; none unless it is enabled and its programs are installed. */
  readonly desktop: readonly Tool[];
  /** `delegate`; none for an agent that may not ask others. */
  readonly delegate: readonly Tool[];
  /** The `browser_*` tools and the view of the open page; no tools without a browser. */
  readonly browser: OpenedFamily;
  /** `str_replace_editor`. */
  readonly editor: Tool;
  /** `sql_query` over files, if the agent lists `tables`. */
  readonly tables: readonly Tool[];
  /** The tools for data and for code, if the agent lists that family. */
  readonly data: readonly Tool[];
  readonly code: readonly Tool[];
};

/** A family on one machine: its tools, and what its agent sees. */
export type OpenedFamily = { readonly tools: readonly Tool[]; readonly look?: Observe | undefined };

/**
 * Tools of one kind, which an agent lists like a tool. They are opened on the machine that serves
 * the agent; a machine that lacks what they need has fewer of them, or none.
 */
export interface ToolFamily {
  /** Its name in `[agents.NAME] tools`. */
  readonly family: string;
  /** The names of all its tools, on any machine: the names that `[agents.NAME] approve` accepts. */
  readonly toolNames: readonly string[];
  /** Whether the agent that lists it is of no use without it. */
  readonly isEssential?: boolean;
  open(machine: ToolMachine): OpenedFamily;
}

/** Whether an entry of an agent's list is a family rather than a tool. */
export function isFamily(listed: Tool | ToolFamily): listed is ToolFamily {
  return "open" in listed;
}
