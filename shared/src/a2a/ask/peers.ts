import { localCaller, principalHeader } from "../../core/caller.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { isLoopback } from "../../http/loopback-guard.ts";
import type { A2aClient } from "../client/client.ts";
import type { Fetch } from "../client/client-fetch.ts";
import { type InsideAddress, isSameServer } from "../client/server-address.ts";
import type { CardPolicy } from "../signing/card-policy.ts";
import type { PushCallbacks } from "./push-callbacks.ts";
import { createQuestionLock, type QuestionLock } from "./question-lock.ts";
import { createUnderWay, type UnderWay } from "./under-way.ts";

/** Another agent: the asker's name for it, and its card's URL. */
export type PeerAddress = { readonly name: string; readonly url: string };

/** Limits of asking. Times in milliseconds, sizes in bytes. */
export type AskBounds = {
  /** Agents a task may pass through. */
  readonly hops: number;
  /** How long one step follows a task. */
  readonly followMs: number;
  /**
   * How long a run waits without a body for an agent of the same store that is quiet, before it
   * looks whether that agent is still there.
   */
  readonly quietMs: number;
  /** How long to retry an agent that cannot be reached. */
  readonly patienceMs: number;
  /** The size of one file, and the number of files that an ask accepts. */
  readonly fileBytes: number;
  readonly files: number;
};

const defaultBounds: AskBounds = {
  hops: 8,
  followMs: 30_000,
  quietMs: 10 * 60_000,
  patienceMs: 120_000,
  fileBytes: 64 * 1024 * 1024,
  files: 50,
};

/** What a process needs to ask other agents. Created once and shared by all runs. */
export type Peers = {
  /**
   * The same peers, asked for a principal: agents of this system learn whose task it is, any others
   * do not. Such an ask is part of a run that counts already, so no limit of the principal refuses
   * it.
   */
  actingFor(principal: string): Peers;
  /**
   * A client for the agent at this address; a card older than a minute, or of none of the 200
   * agents read last, is read again. Rejects like `createA2aClient`.
   */
  client(address: PeerAddress, signal?: AbortSignal): Promise<A2aClient>;
  /**
   * Aborted when an agent that failed is worth retrying. Undefined if nothing monitors the agent.
   */
  retrySignal(address: PeerAddress): AbortSignal | undefined;
  /** The current address of an agent that was asked at this one, perhaps before a restart. */
  at(address: PeerAddress): PeerAddress;
  /** Sends requests outside A2A to the agent's own server, for its files, with its credentials. */
  fetch(address: PeerAddress): Fetch;
  /** Maps a public address to the one reachable from here. */
  readonly inside: InsideAddress;
  readonly engine: Pick<Engine, "start" | "get" | "list" | "cancel" | "events" | "watch">;
  readonly artifacts: ArtifactStore;
  readonly bounds: AskBounds;
  readonly questionLock: QuestionLock;
  readonly underWay: UnderWay;
  /** Push callbacks for agents of other systems; undefined if those agents cannot reach them. */
  readonly pushCallbacks?: PushCallbacks | undefined;
};

/**
 * What a process provides for asking. `fetch` shows an agent the credentials that are meant for it,
 * which no journal ever holds.
 */
export type PeersOptions = Pick<Peers, "engine" | "artifacts"> & {
  /**
   * A client for an agent that is monitored elsewhere, for example by a registry; undefined for an
   * agent resolved here.
   */
  connect?(address: PeerAddress, signal: AbortSignal | undefined): Promise<A2aClient> | undefined;
  retrySignal?(address: PeerAddress): AbortSignal | undefined;
  /** Sends requests to this agent, with its credentials; plain if omitted. */
  fetch?(address: PeerAddress): Fetch;
  /**
   * Whether the agent is of this system, so that it takes our word for whose task it is: decided by
   * what we hold, never by what the agent says. None is if omitted.
   */
  isOwn?(address: PeerAddress): boolean;
  /**
   * The agent now known by this name. A run remembers where an agent was when it asked it, perhaps
   * before a restart.
   */
  known?(name: string): PeerAddress | undefined;
  /** Which agents may be used by their cards; all, if omitted. */
  readonly admit?: CardPolicy;
  readonly inside?: InsideAddress;
  readonly bounds?: Partial<AskBounds>;
  readonly pushCallbacks?: PushCallbacks | undefined;
};

const cardAgeMs = 60_000;
/** Callers name addresses, so only so many agents are remembered. */
const maxClients = 200;

/** Creates the peers, with default bounds for those not given. */
export function createPeers(options: PeersOptions): Peers {
  const { engine, artifacts, inside = (url: string) => url } = options;
  const fetchFor = (address: PeerAddress) => options.fetch?.(whereNow(address, options)) ?? fetch;
  const clients = new Map<string, { readonly client: A2aClient; readonly at: number }>();
  const connect = async (address: PeerAddress, signal?: AbortSignal): Promise<A2aClient> => {
    const watched = options.connect?.(address, signal);
    if (watched !== undefined) return watched;
    const key = `${address.name} ${address.url}`;
    const known = clients.get(key);
    if (known !== undefined && performance.now() - known.at < cardAgeMs) return known.client;
    const { createA2aClient } = await import("../client/client.ts");
    const client = await createA2aClient(address.url, {
      fetch: fetchFor(address),
      inside,
      called: address.name,
      admit: async (card) => options.admit?.(card, address),
      responseMs: 20_000,
      // The durable loop around a call does the long retrying; a step only waits out a hiccup.
      retry: { retries: 2, firstPauseMs: 100 },
      ...(signal && { signal }),
    });
    clients.delete(key);
    clients.set(key, { client, at: performance.now() });
    const oldest = clients.keys().next().value;
    if (clients.size > maxClients && oldest !== undefined) clients.delete(oldest);
    return client;
  };
  const shared = {
    engine,
    artifacts,
    retrySignal: (address: PeerAddress) => options.retrySignal?.(address),
    inside,
    at: (address: PeerAddress) => whereNow(address, options),
    bounds: { ...defaultBounds, ...options.bounds },
    questionLock: createQuestionLock(),
    underWay: createUnderWay(),
    pushCallbacks: options.pushCallbacks,
  };
  const peersFor = (principal: string): Peers => {
    const isTold = (address: PeerAddress) => options.isOwn?.(address) === true;
    return {
      ...shared,
      actingFor: peersFor,
      fetch(asked) {
        const address = whereNow(asked, options);
        const send = fetchFor(address);
        if (!isTold(address)) return send;
        const told = { [principalHeader]: principal };
        return (input, init = {}) => {
          const isThere = isSameServer(input instanceof Request ? input.url : input, address.url);
          return send(
            input,
            isThere ? { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...told } } : init,
          );
        };
      },
      async client(asked, signal) {
        const address = whereNow(asked, options);
        const client = await connect(address, signal);
        return isTold(address) ? client.actingFor(principal) : client;
      },
    };
  };
  return peersFor(localCaller.principal);
}

/**
 * The current address of an agent on this machine, whose server may have a new port since it was
 * asked. Any other agent keeps its address.
 */
function whereNow(asked: PeerAddress, { known }: Pick<PeersOptions, "known">): PeerAddress {
  const now = known?.(asked.name);
  return now !== undefined && [asked, now].every(({ url }) => isHere(url)) ? { ...asked, url: now.url } : asked;
}

function isHere(url: string): boolean {
  return isLoopback(URL.parse(url)?.hostname ?? "");
}
