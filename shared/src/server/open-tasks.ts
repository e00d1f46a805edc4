import { type AgentDeps, agentRun } from "../agent/agent-run.ts";
import type { Config } from "../config/config.ts";
import type { AgentDefinition, MoreTools } from "../core/agent.ts";
import type { RunDefinition } from "../core/runs/run.ts";
import type { KeptTexts } from "../core/text/kept-text.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { Workspace } from "../core/workspace.ts";
import { toolFetch } from "../machine/egress/tool-fetch.ts";
import type { Agent } from "./agent-source.ts";
import { isAtWork } from "./machine/at-work.ts";
import type { Machine } from "./machine/open-machine.ts";
import { guardedMore, openAgent } from "./open-agent.ts";
import { openToolbox, type Toolbox } from "./toolbox.ts";

/** What an agent's tasks are made of. */
export type TaskParts = Deps & {
  readonly config: Config;
  readonly machine: Machine;
  /** The agent as configured; `chosen` are its families if the settings name them. */
  readonly agent: Agent;
  readonly chosen: readonly string[] | undefined;
  /** The families for which its model's window has no room. */
  readonly without: ReadonlySet<string>;
  readonly mounted: MoreTools;
  /** `delegate`, if it may ask others. */
  readonly delegate: readonly Tool[];
  /** Where browser profiles are kept. */
  readonly profiles: KeptTexts;
};

/** What they need of the server, apart from the web. */
type Deps = Pick<AgentDeps, "model" | "engine" | "artifacts" | "openWorkspace" | "recall"> &
  Required<Pick<AgentDeps, "approval" | "risky">>;

/** An agent with its tools, ready to work. */
export type OpenedTasks = {
  readonly definition: AgentDefinition;
  readonly deps: Deps & Required<Pick<AgentDeps, "fetch">>;
  readonly run: RunDefinition;
  /** What is configured but missing here, one sentence each. */
  readonly notes: readonly string[];
  /** The open pages and desktops, for people. */
  readonly live: Toolbox["live"];
  /** Ends every session and process of the tools, and closes the machine's sandbox. */
  close(): Promise<void>;
};

/**
 * Opens an agent's tools on this machine, with everything its tasks need. Loading this module is
 * most of an agent's code, so a server does both for its first task.
 */
export async function openTasks(parts: TaskParts): Promise<OpenedTasks> {
  const { config, machine, agent, chosen, without, mounted, delegate, profiles, ...rest } = parts;
  const atWork = (workspace: Workspace) => isAtWork(agent.name, workspace, rest.engine);
  const toolbox = await openToolbox(config, machine, { profiles, isAtWork: atWork });
  const definition = {
    ...(await openAgent(agent, { ...toolbox, delegate }, chosen, without)),
    moreTools: guardedMore(mounted, (tool) => toolbox.guarded(tool)),
  };
  const deps = { ...rest, fetch: toolFetch(toolbox.egress) };
  const { notes, live, close } = toolbox;
  return { definition, deps, run: agentRun(definition, deps), notes, live, close };
}
