import type { AgentDefinition, MoreTools } from "../core/agent.ts";
import { createKeyedQueue } from "../core/async/keyed-queue.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { PolicedEgress } from "../machine/egress/egress.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import type { GitHosts } from "../tools/code/git-host.ts";
import { unpackTool } from "../tools/code/unpack.ts";
import type { Databases } from "../tools/data/database/databases.ts";
import type { DatabaseServers } from "../tools/data/servers/database-servers.ts";
import { readDocument } from "../tools/documents/read-document.ts";
import { type WriteDocumentDeps, writeDocument } from "../tools/documents/write-document.ts";
import { families } from "../tools/families.ts";
import { isFamily, type Observe, type ToolFamily, type ToolMachine } from "../tools/family.ts";
import { seeImage } from "../tools/files/see-image.ts";
import { createStrReplaceEditor } from "../tools/files/str-replace-editor.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { createPlanning } from "../tools/planning/planning.ts";
import type { Agent } from "./agent-source.ts";

/**
 * The browser's tools and the view of the open page, or a sentence that says why there are none.
 */
export type OpenedBrowsing =
  | { readonly tools: readonly Tool[]; readonly look: Observe; readonly missing: undefined }
  | { readonly tools: readonly []; readonly look: undefined; readonly missing: string };

/** What a machine has for agents, whichever of it one agent needs. */
export type MachineParts = Pick<ToolMachine, "shell" | "web" | "desktop" | "delegate"> & {
  readonly sandbox: Sandbox;
  readonly browsing: OpenedBrowsing;
  /** Requests of tools that fetch; undefined if the web is switched off. */
  readonly egress: PolicedEgress | undefined;
  /** Servers of repositories that the settings name; none if left out. */
  readonly gitHosts?: GitHosts;
  /** One database per conversation, each in its own process. */
  readonly databases: Databases;
  /** The databases that the settings name. */
  readonly servers?: DatabaseServers;
  /** What prints documents; left out without a browser. */
  readonly printer?: WriteDocumentDeps["browser"];
  /** Wraps a tool so that its calls are judged before they reach outside. */
  guarded(tool: Tool): Tool;
};

/**
 * The agent with the tools of its families on this machine. With `chosen` it has exactly these
 * families, in its own version if it lists one, and its tools without a family; without it, its own
 * except those `without`.
 */
export async function openAgent(
  agent: Agent,
  parts: MachineParts,
  chosen: readonly string[] | undefined,
  without: ReadonlySet<string> = new Set(),
): Promise<AgentDefinition> {
  const listed = chosen === undefined ? ownOf(agent, without) : chosenOf(agent, chosen);
  const lists = (name: string) => listed.some(({ family }) => family === name);
  const edits = createKeyedQueue();
  const { guarded, sandbox, shell, web, desktop, delegate, browsing, egress, databases, servers, gitHosts } = parts;
  // The two largest families are loaded for agents that have them.
  const coding = lists("code") ? await import("../tools/code/code-tools.ts") : undefined;
  const data = lists("data") ? await import("../tools/data/data-tools.ts") : undefined;
  const tables = lists("tables") ? await import("../tools/data/table-tools.ts") : undefined;
  const code = coding?.codeTools({
    ...{ sandbox, runsCode: shell.length > 0, egress, edits },
    ...(gitHosts && { hosts: gitHosts }),
  });
  const python = shell.find(({ family }) => family === "python");
  const machine: ToolMachine = {
    planning: createPlanning(),
    askHuman: askHuman(),
    seeImage,
    documents: [readDocument, writeDocument({ browser: parts.printer })],
    archives: [unpackTool({ sandbox })],
    shell,
    web,
    desktop,
    delegate,
    browser: browsing,
    editor: createStrReplaceEditor(edits),
    data: data?.dataTools({ databases, ...(servers && { servers }), python }) ?? [],
    tables: tables?.tableTools({ databases }) ?? [],
    code: code?.tools ?? [],
  };
  const opened = listed.map((one) => (isFamily(one) ? one.open(machine) : { tools: [one] }));
  const tools = distinct(opened.flatMap((one) => one.tools)).map(guarded);
  const look = agent.look ?? opened.find((one) => "look" in one && one.look !== undefined)?.look;
  return {
    ...agent,
    tools: code === undefined ? tools : tools.map((tool) => code.over(tool)),
    ...(look && { look }),
  };
}

/**
 * The agent's own families and `delegate`, but for those that its model's window has no room for.
 */
function ownOf(agent: Agent, without: ReadonlySet<string>): Agent["tools"] {
  const all = [...agent.tools, ...others(agent, ["delegate"])];
  return all.filter(({ family }) => family === undefined || !without.has(family));
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
