import type { AgentDefinition } from "../../core/agent.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { type AgentSource, agentOf } from "../../server/agent-source.ts";
import { offersOf } from "../../server/machine/offers.ts";
import { type MachineParts, openAgent } from "../../server/open-agent.ts";
import type { Databases } from "../../tools/data/database/databases.ts";

/** A sandbox that executes nothing. */
const noSandbox: Sandbox = {
  tier: "none",
  description: "none",
  user: undefined,
  spawn: () => Promise.reject(new Error("no sandbox")),
  close: async () => undefined,
};

/** An agent as served on a machine that has only these parts. For tests. */
export async function openedForTest(
  source: AgentSource,
  parts: Partial<MachineParts> = {},
  about: { readonly delegates?: readonly string[]; readonly pythonLibraries?: readonly string[] } = {},
): Promise<AgentDefinition> {
  const machine: MachineParts = {
    sandbox: noSandbox,
    shell: [],
    web: [],
    desktop: [],
    delegate: [],
    browsing: { tools: [], look: undefined, missing: "There is no browser." },
    egress: undefined,
    databases: {} as Databases,
    guarded: (tool) => tool,
    ...parts,
  };
  const { delegates = [], pythonLibraries = [] } = about;
  const runs = (family: string) => machine.shell.some((tool) => tool.family === family);
  const facts = {
    shell: runs("shell"),
    pythonLibraries: runs("python") ? pythonLibraries : undefined,
    web: machine.web.length > 0,
    browserMissing: machine.browsing.missing,
  };
  const offers = { ...offersOf(facts, undefined, delegates), fetches: machine.egress !== undefined };
  return openAgent(agentOf(source, offers), machine, undefined);
}
