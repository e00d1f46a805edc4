import { existsSync } from "node:fs";
import { AppError } from "../core/errors.ts";
import type { AgentConfig } from "./agents/agent-config.ts";
import { checkInstructions } from "./agents/instructions.ts";
import { entryPath } from "./agents/named-files.ts";
import type { Config } from "./config.ts";

/** The settings of an agent of this system. Throws `invalid_input`, listing the known agents. */
export function agentNamed({ agents }: Pick<Config, "agents">, name: string): AgentConfig {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent !== undefined) return agent;
  const known = Object.keys(agents).join(", ") || "none";
  throw new AppError("invalid_input", `There is no agent ${JSON.stringify(name)}. There are: ${known}.`);
}

/** The default agent: the first one. Throws `config_invalid` if there is none. */
export function firstAgent({ agents }: Pick<Config, "agents">): string {
  const [first] = Object.keys(agents);
  if (first === undefined)
    throw new AppError("config_invalid", "There is no agent: the settings switch all of them off.");
  return first;
}

/**
 * Rejects with `config_invalid` if a file named in the settings is unusable, whichever process it
 * is for.
 */
export async function checkNamedFiles({ agents, flows, a2a, peers }: NamingFiles): Promise<void> {
  for (const { entry, instructions } of Object.values(agents)) {
    if (entry !== undefined) entryPath(entry);
    await checkInstructions(instructions);
  }
  for (const entry of Object.values(flows.added)) entryPath(entry);
  // The keys of all come first: what agents and peers have of them is not said to be theirs.
  const tables = { gateway: a2a, ...within("agents", agents), ...within("peers", peers) };
  for (const [table, { card }] of Object.entries(tables))
    if (card.keys !== undefined && !existsSync(card.keys))
      throw new AppError("config_invalid", `[${table}] card_keys: there is no file ${card.keys}.`);
}

type NamingFiles = Pick<Config, "agents" | "flows" | "a2a" | "peers">;

function within<Table>(section: string, tables: Readonly<Record<string, Table>>): Record<string, Table> {
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [`${section}.${name}`, table]));
}
