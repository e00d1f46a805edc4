import type { A2aClient } from "manyhands/internal/a2a/client/client";
import type { KnownAgent } from "./known-agent.ts";

/** Agents that are asked by their address alone, remembered for as long as they are asked. */
export interface Strangers {
  /**
   * A client to the agent at an address; its card is read again when it is older than a minute.
   * Rejects as `KnownAgent.connect`.
   */
  connect(url: string, signal: AbortSignal): Promise<A2aClient>;
  /** What is known of an address that was asked before. */
  get(url: string): KnownAgent | undefined;
}

const cardAgeMs = 60_000;
const maxRemembered = 200;

/**
 * Nobody is remembered yet. `resolveAgent` makes what is known of an address, before anything was
 * asked there.
 */
export function createStrangers(resolveAgent: (url: string) => KnownAgent): Strangers {
  const known = new Map<string, KnownAgent>();
  return {
    get: (url) => known.get(url),
    async connect(url, signal) {
      const agent = known.get(url) ?? resolveAgent(url);
      known.delete(url);
      known.set(url, agent);
      const oldest = known.keys().next().value;
      if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
      if (agent.unseenMs() > cardAgeMs) await agent.look(signal);
      return agent.connect(signal);
    },
  };
}
