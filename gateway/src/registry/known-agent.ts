import { type AgentCard, canonicalizeAgentCard } from "@a2a-js/sdk";
import { type A2aClient, createA2aClient } from "@manyhands/shared/a2a/client";
import { AppError, publicError } from "@manyhands/shared/errors";
import { type Breaker, type BreakerPolicy, type BreakerState, createBreaker, watchedFetch } from "./breaker.ts";
import { cardChanges } from "./card-changes.ts";
import type { CardPolicy } from "./card-policy.ts";

/** Where an agent is and who says so: the settings, or a caller who registered it. */
export type AgentAddress = {
  readonly name: string;
  readonly url: string;
  readonly token?: string | undefined;
  readonly source: "configured" | "registered";
};

/** An agent as it was last seen. Times are milliseconds since 1970. */
export type AgentState = {
  readonly name: string;
  readonly url: string;
  readonly source: AgentAddress["source"];
  /** `unknown` until it was looked at. */
  readonly health: "unknown" | "up" | "down" | "refused";
  readonly breaker: BreakerState;
  readonly card?: AgentCard;
  /** Why it is down or refused. */
  readonly reason?: string;
  /** How its card changed since the gateway first saw it, newest last. */
  readonly changes: readonly { readonly at: number; readonly what: readonly string[] }[];
  readonly checkedAt?: number;
};

/** What looking at an agent needs. */
export type KnownAgentDeps = {
  readonly policy: CardPolicy;
  readonly breaker: BreakerPolicy;
};

/** One agent of the registry: its card as it was last read, and a client to it. */
export interface KnownAgent {
  readonly address: AgentAddress;
  state(): AgentState;
  /** Reads the card again. Never rejects but with the signal's reason: what is wrong is in the state. */
  look(signal: AbortSignal): Promise<void>;
  /** A client to it, with its newest card. Rejects with `unavailable` or, for a card the policy refuses, `forbidden`. */
  connect(signal: AbortSignal): Promise<A2aClient>;
}

const lookMs = 5_000;
const mostChanges = 20;

/** An agent that was not looked at yet. */
export function knownAgent(address: AgentAddress, deps: KnownAgentDeps): KnownAgent {
  const breaker: Breaker = createBreaker(address.name, deps.breaker);
  const watched = watchedFetch(breaker, fetch);
  const headers = address.token === undefined ? {} : { authorization: `Bearer ${address.token}` };
  let client: A2aClient | undefined;
  let problem: { health: "down" | "refused"; reason: string } | undefined;
  let checkedAt: number | undefined;
  const changes: { at: number; what: readonly string[] }[] = [];

  const open = async (signal: AbortSignal, retries: number): Promise<A2aClient> => {
    const retry = { retries, firstPauseMs: 250 };
    const found = await createA2aClient(address.url, { fetch: watched, headers, retry, signal });
    await deps.policy(found.card);
    const before = client?.card;
    // The same card keeps its client, and with it the connection.
    if (before !== undefined && canonicalizeAgentCard(before) === canonicalizeAgentCard(found.card))
      return client ?? found;
    if (before !== undefined) remember(cardChanges(before, found.card));
    client = found;
    return found;
  };
  const remember = (what: readonly string[]) => {
    changes.push({ at: Date.now(), what });
    if (changes.length > mostChanges) changes.shift();
  };

  return {
    address,
    state: () => ({
      name: address.name,
      url: address.url,
      source: address.source,
      health: problem?.health ?? (client === undefined ? "unknown" : "up"),
      breaker: breaker.state(),
      ...(client && { card: client.card }),
      ...(problem && { reason: problem.reason }),
      changes: [...changes],
      ...(checkedAt !== undefined && { checkedAt }),
    }),
    async look(signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
      try {
        await open(limit, 0);
        problem = undefined;
        breaker.succeeded();
      } catch (error) {
        signal.throwIfAborted();
        const refused = error instanceof AppError && error.code === "forbidden";
        const reason = limit.aborted ? `It did not answer within ${lookMs / 1000} s.` : publicError(error).message;
        problem = { health: refused ? "refused" : "down", reason };
        breaker.failed();
      }
      checkedAt = Date.now();
    },
    async connect(signal) {
      if (problem?.health === "refused")
        throw new AppError("forbidden", `${address.name} may not be used: ${problem.reason}`);
      breaker.admit();
      return client ?? (await open(signal, 1));
    },
  };
}
