import { instructed } from "../config/agents/instructions.ts";
import type { Config } from "../config/config.ts";
import { agentNamed } from "../config/named-agent.ts";
import { leftOut } from "../config/tool-profile.ts";
import { isFamily } from "../tools/family.ts";
import { type Agent, type AgentSource, agentOf } from "./agent-source.ts";
import { offersOf } from "./machine/offers.ts";
import type { Machine } from "./machine/open-machine.ts";

/** An agent as the settings want it, and the families for which its model's window has no room. */
export type ConfiguredAgent = { readonly agent: Agent; readonly without: ReadonlySet<string> };

/**
 * The agent as the settings want it on this machine; its families are not opened yet. `missing`
 * says why there is no browser.
 */
export async function configuredAgent(
  { name, source }: { readonly name: string; readonly source: AgentSource },
  { config, machine }: { readonly config: Config; readonly machine: Machine },
  missing: string | undefined,
): Promise<ConfiguredAgent> {
  const { tools: chosen, profile, delegates, limits, toolChoice, instructions } = agentNamed(config, name);
  const python = await machine.python.found;
  const facts = {
    shell: machine.sandbox.tier !== "none",
    pythonLibraries: python?.libraries,
    web: config.search.enabled,
    browserMissing: missing,
  };
  const whole = agentOf(source, offersOf(facts, chosen, delegates));
  const without = leftOut(profile).difference(essential(whole));
  const made = without.size === 0 ? whole : agentOf(source, offersOf(facts, chosen, delegates, without));
  return {
    agent: {
      ...(await instructed(made, instructions)),
      // One module can serve several agents of a system, each by its own name.
      name,
      limits: { ...made.limits, ...limits },
      ...(toolChoice && { toolChoice }),
    },
    without,
  };
}

/** The families without which the agent is of no use. */
function essential({ tools }: Agent): ReadonlySet<string> {
  return new Set(tools.flatMap((one) => (isFamily(one) && one.isEssential === true ? [one.family] : [])));
}
