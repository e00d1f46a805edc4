import { AppError } from "@manyhands/shared/errors";
import { type AgentAddress, type KnownAgent, type KnownAgentDeps, knownAgent } from "./known-agent.ts";
import type { KeptAgent, RegistryFile } from "./registry-file.ts";

/** The agents by name: those of the settings, and those that are kept in the file. */
export interface AgentBook {
  all(): readonly KnownAgent[];
  /** Rejects with `not_found`, naming those there are. */
  find(name: string): KnownAgent;
  get(name: string): KnownAgent | undefined;
  /** Takes over what the file says, which another gateway may have changed. */
  reread(): Promise<void>;
  /** Keeps an agent. Rejects with `conflict` when its name is taken. */
  keep(agent: KeptAgent): Promise<KnownAgent>;
  forget(name: string): Promise<void>;
}

/** The book of the agents that the settings name; `reread` adds the others. */
export function agentBook(
  configured: readonly Omit<AgentAddress, "source">[],
  { file, reserved, ...deps }: KnownAgentDeps & { readonly file: RegistryFile; readonly reserved: readonly string[] },
): AgentBook {
  const agents = new Map<string, KnownAgent>();
  const know = (address: AgentAddress): KnownAgent => {
    const agent = knownAgent(address, deps);
    agents.set(address.name, agent);
    return agent;
  };
  for (const address of configured) know({ ...address, source: "configured" });
  const find = (name: string): KnownAgent => {
    const agent = agents.get(name);
    if (agent !== undefined) return agent;
    const known = [...agents.keys()].join(", ") || "none";
    throw new AppError("not_found", `There is no agent ${JSON.stringify(name)}. Known: ${known}.`);
  };
  const requireFree = (name: string, url: string): void => {
    const other = agents.get(name)?.address;
    if (reserved.includes(name))
      throw new AppError("conflict", `${name} is the name of a flow. Give the agent another name.`);
    if (other !== undefined && (other.source === "configured" || !isSameUrl(other.url, url)))
      throw new AppError("conflict", `${name} is the agent at ${other.url}. Give this one another name.`);
  };
  return {
    all: () => [...agents.values()],
    get: (name) => agents.get(name),
    find,
    async reread() {
      const kept = await file.read();
      for (const [name, { address }] of agents)
        if (address.source === "registered" && !kept.some((one) => one.name === name)) agents.delete(name);
      for (const one of kept) {
        const known = agents.get(one.name)?.address;
        const isSame = known?.url === one.url && known.token === one.token;
        if (known?.source !== "configured" && !isSame) know({ ...one, source: "registered" });
      }
    },
    async keep(agent) {
      requireFree(agent.name, agent.url);
      await file.update((kept) => [...kept.filter(({ name }) => name !== agent.name), agent]);
      return know({ ...agent, source: "registered" });
    },
    async forget(name) {
      if (find(name).address.source === "configured")
        throw new AppError("conflict", `${name} is an agent of the settings; take it out there.`);
      await file.update((kept) => kept.filter((one) => one.name !== name));
      agents.delete(name);
    },
  };
}

/** Whether two addresses are the same but for slashes at the end. */
export function isSameUrl(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}
