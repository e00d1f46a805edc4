import type { AgentDefinition } from "../core/agent.ts";
import { createKeyedQueue } from "../core/keyed-queue.ts";
import type { Tool } from "../core/tool.ts";
import { type CodeTools, codeTools } from "../tools/code/code-tools.ts";
import { families } from "../tools/families.ts";
import { isFamily, type Machine, type ToolFamily } from "../tools/family.ts";
import type { Agent, Offers } from "./agent-source.ts";

/** What a machine has, before it is known what the agent needs of it. */
export type MachineParts = Omit<Machine, "code" | "edits">;

/** What is on offer to an agent that is to have these families, or its own where `chosen` is left out. */
export function offersOf(
  { shell, web, browsing, egress }: MachineParts,
  chosen: readonly string[] | undefined,
  about: { readonly delegates: readonly string[]; readonly pythonLibraries: readonly string[] | undefined },
): Offers {
  const has = (family: string) => chosen === undefined || chosen.includes(family);
  const runs = (name: string, family: string) => has(family) && shell.some((tool) => tool.name === name);
  const runsPython = runs("python_execute", "python");
  return {
    runsCode: runsPython || runs("bash", "shell"),
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
export function openAgent(agent: Agent, parts: MachineParts, chosen: readonly string[] | undefined): AgentDefinition {
  const listed = chosen === undefined ? [...agent.tools, ...others(agent, ["delegate"])] : chosenOf(agent, chosen);
  const edits = createKeyedQueue();
  const { sandbox, shell, egress, guarded } = parts;
  const code = listed.some(({ family }) => family === "code")
    ? codeTools({ sandbox, runsCode: shell.length > 0, egress, guarded, edits })
    : undefined;
  const machine: Machine = { ...parts, code, edits };
  const opened = listed.map((one) => (isFamily(one) ? one.open(machine) : { tools: [one] }));
  const tools = distinct(opened.flatMap((one) => one.tools));
  const look = agent.look ?? opened.find((one) => "look" in one && one.look !== undefined)?.look;
  return {
    ...agent,
    tools: code === undefined ? tools : tools.map((tool) => savedBy(code, tool)),
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

/** What changes files beside the tools for code is undone by them too. */
function savedBy(code: CodeTools, tool: Tool): Tool {
  if (tool.name === "str_replace_editor") return code.checkedEditor(tool);
  return tool.name === "bash" || tool.name === "python_execute" ? code.saved(tool) : tool;
}

/** The first of each name. */
function distinct(tools: readonly Tool[]): readonly Tool[] {
  const names = tools.map(({ name }) => name);
  return tools.filter(({ name }, at) => names.indexOf(name) === at);
}
