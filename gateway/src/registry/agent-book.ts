import { AppError } from "manyhands/internal/core/errors";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import { type AgentAddress, type KnownAgent, type KnownAgentDeps, knownAgent } from "./known-agent.ts";
import type { KeptAgent, RegistryFile } from "./registry-file.ts";

/** What a book needs besides the agents of the settings. */
export type BookDeps = KnownAgentDeps & {
  readonly file: RegistryFile;
  readonly reserved: readonly string[];
};

/** The agents by name: those of the settings and those registered in the file. */
export interface AgentBook {
  all(): readonly KnownAgent[];
  /** Rejects with `not_found` and the known names. */
  find(name: string): KnownAgent;
  get(name: string): KnownAgent | undefined;
  /** Reads the file again, which another gateway may have changed. */
  reread(): Promise<void>;
  /** Keeps an agent. Rejects with `conflict` when its name is taken. */
  keep(agent: KeptAgent): Promise<KnownAgent>;
  forget(name: string): Promise<void>;
  /** Calls the listener once for every current and future name. */
  each(listener: (name: string) => void): void;
  /** The agent at an address or at a path above it. */
  ownerOf(url: string): KnownAgent | undefined;
}

/** The book of the agents that the settings name; `reread` adds the others. */
export function agentBook(
  configured: readonly Omit<AgentAddress, "source">[],
  { file, reserved, ...deps }: BookDeps,
): AgentBook {
  const agents = new Map<string, KnownAgent>();
  const announced = new Set<string>();
  const listeners: ((name: string) => void)[] = [];
  const announce = (name: string) => {
    if (announced.has(name)) return;
    announced.add(name);
    for (const listener of listeners) listener(name);
  };
  const know = (address: AgentAddress): KnownAgent => {
    const agent = knownAgent(address, deps);
    agents.set(address.name, agent);
    announce(address.name);
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
    if (other !== undefined && (other.source === "configured" || !isSameUrl(other.url, url))) throw taken(other);
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
      await file.update((kept) => {
        // Somebody else may have registered one since the file was read.
        const other = kept.find(({ name }) => name === agent.name);
        if (other !== undefined && !isSameUrl(other.url, agent.url)) throw taken(other);
        return [...kept.filter(({ name }) => name !== agent.name), agent];
      });
      return know({ ...agent, source: "registered" });
    },
    async forget(name) {
      if (find(name).address.source === "configured")
        throw new AppError("conflict", `${name} is an agent of the settings; remove it there.`);
      await file.update((kept) => kept.filter((one) => one.name !== name));
      agents.delete(name);
    },
    each(listener) {
      listeners.push(listener);
      for (const name of announced) listener(name);
    },
    ownerOf: (url) => [...agents.values()].find(({ address }) => isBelow(url, address.url)),
  };
}

function taken({ name, url }: Pick<AgentAddress, "name" | "url">): AppError {
  return new AppError("conflict", `${name} is the agent at ${url}. Give this one another name.`);
}

/** Whether two addresses are the same but for slashes at the end. */
export function isSameUrl(one: string, other: string): boolean {
  return withoutLastSlashes(one) === withoutLastSlashes(other);
}

function isBelow(url: string, base: string): boolean {
  const [one, other] = [URL.parse(url), URL.parse(base)];
  if (one === null || other === null || one.origin !== other.origin) return false;
  return `${one.pathname}/`.startsWith(`${withoutLastSlashes(other.pathname)}/`);
}
