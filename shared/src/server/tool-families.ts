import type { AgentDefinition } from "../agent/agent.ts";
import type { ToolFamily } from "../config/tool-families.ts";
import { applyPatchTool } from "../tools/code/apply-patch.ts";
import { globTool } from "../tools/code/glob.ts";
import { runTestsTool } from "../tools/code/run-tests.ts";
import { searchTool } from "../tools/code/search.ts";
import { dataVisualization } from "../tools/data/data-visualization.ts";
import { createDatabases } from "../tools/data/databases.ts";
import { describeData } from "../tools/data/describe-data.ts";
import { sqlQuery } from "../tools/data/sql-query.ts";
import { visualizationPreparation } from "../tools/data/visualization-preparation.ts";
import { writeReport } from "../tools/data/write-report.ts";
import { createStrReplaceEditor } from "../tools/files/str-replace-editor.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { createKeyedQueue } from "../tools/keyed-queue.ts";
import { createPlanning } from "../tools/planning/planning.ts";
import type { Tool } from "../tools/tool.ts";
import type { Toolbox } from "./toolbox.ts";

/** What the families are made of; `delegate` is empty for an agent that may ask none. */
export type FamilyDeps = Pick<Toolbox, "shell" | "web" | "sandbox"> & { readonly delegate: readonly Tool[] };

/** The tools of each family, as this machine can have them: the one table where a family is looked up. */
const families: Readonly<Record<ToolFamily, (deps: FamilyDeps) => readonly Tool[]>> = {
  planning: () => [createPlanning()],
  shell: ({ shell }) => shell.filter(({ name }) => name === "bash"),
  python: ({ shell }) => shell.filter(({ name }) => name === "python_execute"),
  files: () => [createStrReplaceEditor()],
  web: ({ web }) => web,
  data: ({ shell }) => dataTools(shell),
  code: ({ sandbox, shell }) => codeTools(sandbox, shell),
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
  const made = Object.entries(families).map(([family, make]) => ({ family, tools: make(deps) }));
  const isChosen = (family: string) => chosen.some((name) => name === family);
  const dropped = new Set(made.filter(({ family }) => !isChosen(family)).flatMap(({ tools }) => tools.map(nameOf)));
  const wanted = made.filter(({ family }) => isChosen(family)).flatMap(({ tools }) => tools);
  const kept = agent.tools.filter(({ name }) => !dropped.has(name));
  return { ...agent, tools: joined(kept, wanted) };
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

function dataTools(shell: readonly Tool[]): readonly Tool[] {
  const databases = createDatabases();
  const python = shell.find(({ name }) => name === "python_execute");
  return [
    describeData({ databases }),
    sqlQuery({ databases }),
    ...(python === undefined ? [] : [visualizationPreparation({ python })]),
    dataVisualization({ databases }),
    writeReport(),
  ];
}

/** The editor is not of this family: a patch and an edit of one turn run one after the other anyway. */
function codeTools(sandbox: FamilyDeps["sandbox"], shell: readonly Tool[]): readonly Tool[] {
  const patch = applyPatchTool({ queue: createKeyedQueue() });
  return shell.length === 0
    ? [patch]
    : [searchTool({ sandbox }), globTool({ sandbox }), patch, runTestsTool({ sandbox })];
}
