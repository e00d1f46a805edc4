import type { ToolFamily } from "../config/tool-families.ts";
import type { AgentDefinition } from "../core/agent.ts";
import { createKeyedQueue } from "../core/keyed-queue.ts";
import type { Tool } from "../core/tool.ts";
import { type CodeTools, codeTools } from "../tools/code/code-tools.ts";
import { dataTools } from "../tools/data/data-tools.ts";
import { seeImage } from "../tools/files/see-image.ts";
import { createStrReplaceEditor } from "../tools/files/str-replace-editor.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { createPlanning } from "../tools/planning/planning.ts";
import type { Toolbox } from "./toolbox.ts";

/** What the families are made of; `delegate` is empty for an agent that may ask none. */
export type FamilyDeps = Pick<
  Toolbox,
  "shell" | "web" | "desktop" | "browsing" | "sandbox" | "egress" | "databases" | "guarded"
> & {
  readonly delegate: readonly Tool[];
};

type Parts = FamilyDeps & { readonly codeTools: CodeTools };

/** The tools of each family, as this machine can have them: the one table where a family is looked up. */
const families: Readonly<Record<ToolFamily, (parts: Parts) => readonly Tool[]>> = {
  planning: () => [createPlanning()],
  shell: ({ shell }) => shell.filter(({ name }) => name === "bash"),
  python: ({ shell }) => shell.filter(({ name }) => name === "python_execute"),
  files: () => [createStrReplaceEditor(), seeImage],
  web: ({ web }) => web,
  browser: ({ browsing }) => browsing.tools,
  desktop: ({ desktop }) => desktop,
  data: ({ shell, databases }) => dataTools({ databases, python: shell.find(({ name }) => name === "python_execute") }),
  code: ({ codeTools: { tools } }) => tools,
  human: () => [askHuman()],
  delegate: ({ delegate }) => delegate,
};

/**
 * The agent with the tools of exactly these families, its own where it is made with them; without a choice, with its own and those that
 * `delegate` holds. Tools of no family (`terminate`) stay.
 */
export function withFamilies(
  agent: AgentDefinition,
  chosen: readonly ToolFamily[] | undefined,
  deps: FamilyDeps,
): AgentDefinition {
  if (chosen === undefined) return { ...agent, tools: joined(agent.tools, deps.delegate) };
  const { sandbox, shell, egress, guarded } = deps;
  const code = codeTools({ sandbox, runsCode: shell.length > 0, egress, guarded, edits: createKeyedQueue() });
  const made = Object.entries(families).map(([family, make]) => ({
    family,
    tools: make({ ...deps, codeTools: code }),
  }));
  const isChosen = (family: string) => chosen.some((name) => name === family);
  const dropped = new Set(made.filter(({ family }) => !isChosen(family)).flatMap(({ tools }) => tools.map(nameOf)));
  const wanted = made.filter(({ family }) => isChosen(family)).flatMap(({ tools }) => tools);
  const kept = agent.tools.filter(({ name }) => !dropped.has(name));
  const tools = joined(kept, wanted);
  const ofAnother = isChosen("code") && kept.every(({ name }) => name !== "checkpoints");
  return { ...agent, tools: ofAnother ? tools.map((tool) => savedBy(code, tool)) : tools };
}

/** What changes files beside the tools for code is to be undone by them too, in an agent that was not made with them. */
function savedBy(code: CodeTools, tool: Tool): Tool {
  if (tool.name === "str_replace_editor") return code.checkedEditor(tool);
  return tool.name === "bash" || tool.name === "python_execute" ? code.saved(tool) : tool;
}

/** What an agent is made with: what its prompt may count on. */
export type AgentToolbox = Toolbox & {
  /** The agents that `delegate` can ask. */
  readonly delegates: readonly string[];
};

/** The part of the toolbox that an agent with these families is going to have. */
export function chosenToolbox(
  toolbox: Toolbox,
  chosen: readonly ToolFamily[] | undefined,
  delegates: readonly string[],
): AgentToolbox {
  const has = (family: ToolFamily) => chosen === undefined || chosen.includes(family);
  return {
    ...toolbox,
    shell: toolbox.shell.filter(({ name }) => has(name === "python_execute" ? "python" : "shell")),
    web: has("web") ? toolbox.web : [],
    desktop: has("desktop") ? toolbox.desktop : [],
    browsing: has("browser") ? toolbox.browsing : { tools: [], look: undefined, missing: "It is switched off." },
    delegates: has("delegate") ? delegates : [],
  };
}

/** These tools and those of the others that bring a new name. */
function joined(own: readonly Tool[], others: readonly Tool[]): readonly Tool[] {
  const names = new Set(own.map(nameOf));
  return [...own, ...others.filter(({ name }) => !names.has(name))];
}

function nameOf({ name }: Tool): string {
  return name;
}
