import type { ApprovalPolicy } from "../agent/act/plan-call.ts";
import type { AgentDefinition, MoreTools } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import { createKeyedQueue } from "../core/keyed-queue.ts";
import type { Tool } from "../core/tool.ts";
import type { Egress } from "../machine/egress/egress.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import { codeTools } from "../tools/code/code-tools.ts";
import { dataTools } from "../tools/data/data-tools.ts";
import type { Databases } from "../tools/data/database/databases.ts";
import { families } from "../tools/families.ts";
import { isFamily, type Machine, type Observe, type ToolFamily } from "../tools/family.ts";
import { createStrReplaceEditor } from "../tools/files/str-replace-editor.ts";
import type { Agent, Offers } from "./agent-source.ts";

/**
 * The browser's tools and the view of the open page, or a sentence that says why there are none.
 */
export type OpenedBrowsing =
  | { readonly tools: readonly Tool[]; readonly look: Observe; readonly missing: undefined }
  | { readonly tools: readonly []; readonly look: undefined; readonly missing: string };

/** What a machine has for agents, whichever of it one agent needs. */
export type MachineParts = Pick<Machine, "shell" | "web" | "desktop" | "delegate"> & {
  readonly sandbox: Sandbox;
  readonly browsing: OpenedBrowsing;
  /** Requests of tools that fetch; undefined if the web is switched off. */
  readonly egress: Egress | undefined;
  /** One database per conversation, each in its own process. */
  readonly databases: Databases;
  /** Wraps a tool so that its calls are judged before they reach outside. */
  guarded(tool: Tool): Tool;
};

/** The agent with its tools, and the names of tools that it would have on other machines. */
type OpenedAgent = AgentDefinition & { readonly otherNames: readonly string[] };

/**
 * What the machine offers to an agent with these families, or with its own if `chosen` is left out.
 */
export function offersOf(
  { shell, web, browsing, egress }: MachineParts,
  chosen: readonly string[] | undefined,
  about: { readonly delegates: readonly string[]; readonly pythonLibraries: readonly string[] | undefined },
): Offers {
  const has = (family: string) => chosen === undefined || chosen.includes(family);
  const runs = (family: string) => has(family) && shell.some((tool) => tool.family === family);
  const runsPython = runs("python");
  return {
    runsCode: runsPython || runs("shell"),
    pythonLibraries: runsPython ? (about.pythonLibraries ?? []) : undefined,
    readsWeb: has("web") && web.length > 0,
    fetches: egress !== undefined,
    browserMissing: has("browser") ? browsing.missing : "It is switched off.",
    delegates: has("delegate") ? about.delegates : [],
  };
}

/**
 * The agent with the tools of its families on this machine. With `chosen` it has exactly these
 * families, in its own version if it lists one, and its tools without a family.
 */
export function openAgent(agent: Agent, parts: MachineParts, chosen: readonly string[] | undefined): OpenedAgent {
  const listed = chosen === undefined ? [...agent.tools, ...others(agent, ["delegate"])] : chosenOf(agent, chosen);
  const lists = (name: string) => listed.some(({ family }) => family === name);
  const edits = createKeyedQueue();
  const { guarded, sandbox, shell, web, desktop, delegate, browsing, egress, databases } = parts;
  const code = lists("code") ? codeTools({ sandbox, runsCode: shell.length > 0, egress, edits }) : undefined;
  const python = shell.find(({ family }) => family === "python");
  const machine: Machine = {
    shell,
    web,
    desktop,
    delegate,
    browser: browsing,
    editor: createStrReplaceEditor(edits),
    data: lists("data") ? dataTools({ databases, python }) : [],
    code: code?.tools ?? [],
  };
  const opened = listed.map((one) => (isFamily(one) ? one.open(machine) : { tools: [one] }));
  const tools = distinct(opened.flatMap((one) => one.tools)).map(guarded);
  const look = agent.look ?? opened.find((one) => "look" in one && one.look !== undefined)?.look;
  return {
    ...agent,
    tools: code === undefined ? tools : tools.map((tool) => code.over(tool)),
    otherNames: [...agent.tools.filter(isFamily), ...families].flatMap(({ toolNames }) => toolNames),
    ...(look && { look }),
  };
}

function chosenOf(agent: Agent, chosen: readonly string[]): Agent["tools"] {
  const kept = agent.tools.filter(({ family }) => family === undefined || chosen.includes(family));
  return [...kept, ...others(agent, chosen)];
}

/** The families among these that the agent does not list. */
function others(agent: Agent, names: readonly string[]): readonly ToolFamily[] {
  const own = new Set(agent.tools.map(({ family }) => family));
  return families.filter(({ family }) => names.includes(family) && !own.has(family));
}

/** The first of each name. */
function distinct(tools: readonly Tool[]): readonly Tool[] {
  const names = tools.map(({ name }) => name);
  return tools.filter(({ name }, at) => names.indexOf(name) === at);
}

/**
 * Asks a person to allow each call of the named tools. Throws `config_invalid` for a name that no
 * tool of the agent has on any machine: it would protect nothing.
 */
export function approvalBy(
  names: readonly string[],
  { name: agent, tools, otherNames, moreTools }: Pick<OpenedAgent, "name" | "tools" | "otherNames" | "moreTools">,
): ApprovalPolicy {
  const known = [...new Set([...tools.map((tool) => tool.name), ...otherNames])];
  const unknown = names.find((name) => !known.includes(name) && moreTools?.mayHave(name) !== true);
  if (unknown !== undefined) {
    throw new AppError(
      "config_invalid",
      `[agents.${agent}] approve names ${JSON.stringify(unknown)}, but the tools are: ${known.join(", ")}.`,
    );
  }
  return ({ name }) => (names.includes(name) ? "ask" : "allow");
}

/** Guards tools that come and go; a tool keeps its guard. */
export function guardedMore(more: MoreTools, guarded: (tool: Tool) => Tool): MoreTools {
  const known = new WeakMap<Tool, Tool>();
  const under = (tool: Tool) => {
    const one = known.get(tool) ?? guarded(tool);
    known.set(tool, one);
    return one;
  };
  return {
    ...more,
    async list(principal, signal, tell) {
      const listed = await more.list(principal, signal, tell);
      return { ...listed, tools: listed.tools.map(under) };
    },
  };
}
