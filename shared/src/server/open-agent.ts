import type { ApprovalPolicy } from "../agent/act/plan-call.ts";
import type { AgentDefinition, MoreTools } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
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
type OpenedAgent = AgentDefinition & { readonly otherNames: readonly string[] };

/**
 * What is on offer to an agent that is to have these families, or its own where `chosen` is left
 * out.
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
 * The agent with the tools that its families come to on this machine. With `chosen` it has exactly
 * these families, its own where it lists them, and its tools of no family.
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

/**
 * Has a person allow each call of the tools named. Throws `config_invalid` for a name that no tool
 * of the agent has or may have where the machine has what it lacks here: it would protect nothing.
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

/** Tools that come and go, each under a guard; the same tool is under the same one every time. */
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
