import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentName, agentPorts } from "@manyhands/shared/config/agents";

/** An agent's server as this package knows it: a name, a file to start, and where its port is set. Nothing of its code. */
export type AgentEntry = {
  readonly name: AgentName;
  /** Absolute path of the server's entry. */
  readonly entry: string;
  readonly portEnv: string;
};

/** The agents whose servers are in this checkout, in the order of their ports. */
export function agentEntries(root: string): readonly AgentEntry[] {
  const names: readonly AgentName[] = ["manus", "browser", "swe", "data-analysis"];
  return names
    .map((name) => ({ name, entry: join(root, "agents", name, "src/server.ts"), portEnv: agentPorts[name].portEnv }))
    .filter(({ entry }) => existsSync(entry));
}
