import type { AgentDefinition } from "../core/agent.ts";
import { createKeyedQueue } from "../core/keyed-queue.ts";
import type { Tool } from "../core/tool.ts";
import { codeTools } from "../tools/code/code-tools.ts";
import { families } from "../tools/families.ts";
import { isFamily, type Machine, type ToolFamily } from "../tools/family.ts";
import type { Agent, Offers } from "./agent-source.ts";

/** What a machine has, before it is known what the agent needs of it. */
export type MachineParts = Omit<Machine, "code" | "edits"> & {
  /** The tool, its calls judged where they reach outside. */
  guarded(tool: Tool): Tool;
};

/** The agent with its tools, and the names of those it may have on a machine that has more. */
export type OpenedAgent = AgentDefinition & { readonly otherNames: readonly string[] };

/** What is on offer to an agent that is to have these families, or its own where `chosen` is left out. */
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
 * The agent with the tools that its families come to on this machine. With `chosen` it has exactly these families, its own where it lists them, and
 * its tools of no family.
 */
export function openAgent(agent: Agent, parts: MachineParts, chosen: readonly string[] | undefined): OpenedAgent {
  const listed = chosen === undefined ? [...agent.tools, ...others(agent, ["delegate"])] : chosenOf(agent, chosen);
  const edits = createKeyedQueue();
  const { guarded, ...has } = parts;
  const { sandbox, shell, egress } = has;
  const code = listed.some(({ family }) => family === "code")
    ? codeTools({ sandbox, runsCode: shell.length > 0, egress, edits })
    : undefined;
  const machine: Machine = { ...has, code, edits };
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

/** Of these families, those that the agent does not list itself. */
function others(agent: Agent, names: readonly string[]): readonly ToolFamily[] {
  const own = new Set(agent.tools.map(({ family }) => family));
  return families.filter(({ family }) => names.includes(family) && !own.has(family));
}

/** The first of each name. */
function distinct(tools: readonly Tool[]): readonly Tool[] {
  const names = tools.map(({ name }) => name);
  return tools.filter(({ name }, at) => names.indexOf(name) === at);
}
