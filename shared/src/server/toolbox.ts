import type { Config } from "../config/config.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import { createDatabases } from "../tools/data/databases.ts";
import type { Python } from "../tools/python/find-python.ts";
import { createPythonSessions, pythonExecute } from "../tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import type { MachineParts } from "./open-agent.ts";
import { openBrowser } from "./open-browser.ts";
import { openBrowsing } from "./open-browsing.ts";
import { openDesktop } from "./open-desktop.ts";
import type { Machine } from "./open-machine.ts";
import { openEgress, openWeb } from "./open-web.ts";

/** What a model may ask for at most. */
const longestTimeoutSeconds = 600;

/** What the agents of this machine can be given. */
export type Toolbox = Omit<MachineParts, "delegate"> & {
  /** The Python that `python_execute` runs, where there is one. */
  readonly python: Python | undefined;
  /** What is asked for and cannot be had here, one sentence each. */
  readonly notes: readonly string[];
  /** Ends every session and process. */
  close(): Promise<void>;
};

/** Makes the tools that run commands on this machine, and those that read the web and browse it. Closing it closes the sandbox. */
export async function openToolbox(
  config: Pick<Config, "home" | "sandbox" | "search" | "egress" | "desktop" | "browser">,
  machine: Machine,
): Promise<Toolbox> {
  const { sandbox } = machine;
  const { timeoutMs, allowDomains } = config.sandbox;
  const egress = openEgress(config);
  const { browsers, missing } = await openBrowser(config);
  const web = openWeb(config, egress, browsers);
  const { browsing, guarded } = openBrowsing(browsers, missing, web.search, config.browser);
  const python = await machine.python.found;
  const desktop = await openDesktop(config.desktop, sandbox);
  const notes = desktop.note === undefined ? [] : [desktop.note];
  const databases = createDatabases();
  const always = { sandbox, web: web.tools, browsing, guarded, egress, databases, notes };
  const closeApart = async () => void (await Promise.all([databases.close(), browsers?.close()]));
  if (sandbox.tier === "none") {
    const close = async () => void (await Promise.all([closeApart(), sandbox.close()]));
    return { ...always, shell: [], python: undefined, desktop: [], close };
  }
  const shells = createShellSessions(sandbox);
  const interpreters = createPythonSessions(sandbox);
  const timeout = timeoutMs === undefined ? {} : { timeoutSeconds: Math.min(timeoutMs / 1000, longestTimeoutSeconds) };
  return {
    ...always,
    shell: [
      bashTool({ sessions: shells, ...timeout }),
      ...(python === undefined ? [] : [pythonExecute({ sandbox, sessions: interpreters, ...timeout })]),
    ].map((tool) => ({ ...tool, description: `${tool.description} ${reachText(sandbox.tier, allowDomains)}` })),
    python,
    desktop: desktop.tools,
    async close() {
      await Promise.all([shells.close(), interpreters.close(), desktop.close(), closeApart()]);
      await sandbox.close();
    },
  };
}

/** What commands reach, told by the tools themselves, so that every agent that has them knows. */
function reachText(tier: Sandbox["tier"], domains: readonly string[]): string {
  if (tier === "off") return "What it runs is not confined: it reaches the network as this machine does.";
  if (tier !== "srt" || domains.length === 0) return "What it runs reaches no network.";
  return `On the network what it runs reaches only ${domains.join(", ")}.`;
}
