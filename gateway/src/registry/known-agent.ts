import { type AgentCard, canonicalizeAgentCard } from "@a2a-js/sdk";
import { type A2aClient, createA2aClient } from "manyhands/internal/a2a/client/client";
import type { Fetch } from "manyhands/internal/a2a/client/client-fetch";
import { authorizedFetch, bearerCredentials, type Credentials } from "manyhands/internal/a2a/client/credentials";
import type { InsideAddress } from "manyhands/internal/a2a/client/server-address";
import { missingCredentials } from "manyhands/internal/a2a/client/wanted-credentials";
import type { CardPolicy } from "manyhands/internal/a2a/signing/card-policy";
import { AppError, publicError } from "manyhands/internal/core/errors";
import { type Breaker, type BreakerPolicy, type BreakerState, createBreaker, watchedClient } from "./breaker.ts";
import { cardChanges } from "./card-changes.ts";

/** An agent's address and its source: the settings, or a caller who registered it. */
export type AgentAddress = {
  readonly name: string;
  readonly url: string;
  /** A bearer token, for a registered agent. */
  readonly token?: string | undefined;
  /** What shows a configured agent who calls. */
  readonly credentials?: Credentials | undefined;
  /** Whether it is of this system; if left out, it is not. */
  readonly isOwn?: boolean;
  readonly source: "configured" | "registered";
};

/** An agent as it was last seen. Times are milliseconds since 1970. */
export type KnownAgentState = {
  readonly name: string;
  readonly url: string;
  readonly source: AgentAddress["source"];
  /** `unknown` until the first check. */
  readonly health: "unknown" | "up" | "down" | "refused";
  readonly breaker: BreakerState;
  readonly card?: AgentCard;
  /** Why it is down, refused or behind an open breaker. */
  readonly reason?: string;
  /** How its card changed since the gateway first saw it, newest last. */
  readonly changes: readonly { readonly at: number; readonly what: readonly string[] }[];
  readonly checkedAt?: number;
};

/** What checking an agent needs. */
export type KnownAgentDeps = {
  readonly policy: CardPolicy;
  readonly inside: InsideAddress;
  readonly breaker: BreakerPolicy;
};

/** One agent of the registry: its card as it was last read, and a client to it. */
export interface KnownAgent {
  readonly address: AgentAddress;
  /** Sends requests to its server, with its credentials. */
  readonly fetch: Fetch;
  state(): KnownAgentState;
  /**
   * Reads the card again. Rejects only with the signal's reason; problems show in the state.
   */
  look(signal: AbortSignal): Promise<void>;
  /**
   * A client to it, with its newest card. Rejects with `unavailable` or, for a card the policy
   * refuses, `forbidden`.
   */
  connect(signal: AbortSignal): Promise<A2aClient>;
  /**
   * Milliseconds since the last check, by a monotonic clock; infinite before the first.
   */
  unseenMs(): number;
  /**
   * Aborts as soon as it is worth asking again after a refusal or a failure.
   */
  retrySignal(): AbortSignal;
}

const lookMs = 5_000;
const maxChanges = 20;

/** An agent that was not checked yet. */
export function knownAgent(address: AgentAddress, deps: KnownAgentDeps): KnownAgent {
  const breaker: Breaker = createBreaker(address.name, deps.breaker);
  const credentials = credentialsFor(address);
  const authorized = authorizedFetch(fetch, credentials, deps.inside(address.url));
  let client: A2aClient | undefined;
  let problem: { health: "down" | "refused"; reason: string } | undefined;
  let checkedAt: number | undefined;
  let seen = Number.NEGATIVE_INFINITY;
  const changes: { at: number; what: readonly string[] }[] = [];

  const open = async (signal: AbortSignal): Promise<A2aClient> => {
    // Callers retry by themselves; within a call only a hiccup is waited out.
    const retry = { retries: 2, firstPauseMs: 100 };
    const found = await createA2aClient(address.url, {
      fetch: authorized,
      inside: deps.inside,
      called: address.name,
      responseMs: 20_000,
      retry,
      signal,
      admit: (card) => admit(card, address, deps.policy),
    });
    // The same card keeps its client, and with it the connection.
    if (client !== undefined && canonicalizeAgentCard(client.card) === canonicalizeAgentCard(found.card)) return client;
    if (client !== undefined) remember(cardChanges(client.card, found.card));
    client = watchedClient(found, breaker);
    return client;
  };
  const remember = (what: readonly string[]) => {
    changes.push({ at: Date.now(), what });
    if (changes.length > maxChanges) changes.shift();
  };

  return {
    address,
    fetch: authorized,
    state() {
      const reason = problem?.reason ?? breaker.reason();
      return {
        name: address.name,
        url: address.url,
        source: address.source,
        health: problem?.health ?? (client === undefined ? "unknown" : "up"),
        breaker: breaker.state(),
        ...(client && { card: client.card }),
        ...(reason !== undefined && { reason }),
        changes: [...changes],
        ...(checkedAt !== undefined && { checkedAt }),
      };
    },
    async look(signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
      try {
        await open(limit);
        // A readable card shows that the server is back, but not that failing calls work again.
        if (problem?.health === "down") breaker.succeeded();
        problem = undefined;
      } catch (error) {
        signal.throwIfAborted();
        const refused = error instanceof AppError && error.code === "forbidden";
        const reason = limit.aborted ? `It did not answer within ${lookMs / 1000} s.` : publicError(error).message;
        problem = { health: refused ? "refused" : "down", reason };
        if (!refused) breaker.failed(reason);
      }
      checkedAt = Date.now();
      seen = performance.now();
    },
    unseenMs: () => performance.now() - seen,
    retrySignal: () => breaker.retrySignal(),
    async connect(signal) {
      if (problem?.health === "refused")
        throw new AppError("forbidden", `${address.name} may not be used: ${problem.reason}`);
      breaker.check();
      return client ?? (await open(signal));
    },
  };
}

function credentialsFor({ credentials, token }: AgentAddress): Credentials | undefined {
  return credentials ?? (token === undefined ? undefined : bearerCredentials(token));
}

/**
 * Rejects with `forbidden` if the card is not acceptable, or wants credentials that are not there.
 */
async function admit(card: AgentCard, address: AgentAddress, policy: CardPolicy): Promise<void> {
  await policy(card, address);
  const missing = missingCredentials(card, credentialsFor(address));
  if (missing !== undefined) throw new AppError("forbidden", missing);
}
