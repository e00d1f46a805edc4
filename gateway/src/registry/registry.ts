import type { A2aClient } from "manyhands/internal/a2a/client/client";
import type { Fetch } from "manyhands/internal/a2a/client/client-fetch";
import type { InsideAddress } from "manyhands/internal/a2a/client/server-address";
import type { CardPolicy } from "manyhands/internal/a2a/signing/card-policy";
import { AppError } from "manyhands/internal/core/errors";
import { type AgentBook, agentBook, isSameUrl } from "./agent-book.ts";
import { type BreakerPolicy, sick } from "./breaker.ts";
import { type AgentAddress, type KnownAgent, type KnownAgentState, knownAgent } from "./known-agent.ts";
import type { RegistryFile } from "./registry-file.ts";
import { createStrangers } from "./strangers.ts";

/** What a caller says to register an agent. */
export type NewAgent = {
  readonly url: string;
  readonly name?: string | undefined;
  readonly token?: string | undefined;
};

/** The agents this gateway can call, by name. */
export interface Registry {
  list(): readonly KnownAgentState[];
  get(name: string): KnownAgentState | undefined;
  /**
   * Registers an agent by its address, under its name or one made from its card. Rejects with
   * `unreachable` when there is none to be had, `forbidden` when its card may not be used, and
   * `conflict` when the name is another agent's. The same address again is the same agent.
   */
  add(agent: NewAgent): Promise<KnownAgentState>;
  /**
   * Forgets a registered agent. Rejects with `not_found`, or `conflict` for one that the settings
   * name.
   */
  remove(name: string): Promise<void>;
  /**
   * A client to an agent, under its breaker and with a card that may be used: the registered one of
   * this name and address, or whichever is at the address, which stays unregistered. Rejects with
   * `unavailable`, or `forbidden` with why it may not be used.
   */
  connect(agent: Pick<AgentAddress, "name" | "url">, signal: AbortSignal): Promise<A2aClient>;
  /**
   * Aborted at the next moment at which asking an agent again is worthwhile; undefined for one that
   * was never asked.
   */
  retrySignal(agent: Pick<AgentAddress, "name" | "url">): AbortSignal | undefined;
  /** Sends requests to an agent's address, with its credentials. */
  fetch(url: string): Fetch;
  /** Whether an address belongs to an agent of this system. */
  isOwn(url: string): boolean;
  /**
   * Calls with the name of every agent that is known, and of every one that comes to be, once each.
   */
  eachAgent(listener: (name: string) => void): void;
  /** Looks at every agent now, and at those that another gateway registered. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** What a registry is made of. */
export type RegistryOptions = {
  readonly configured: readonly Omit<AgentAddress, "source">[];
  readonly file: RegistryFile;
  readonly policy: CardPolicy;
  /** Where an address is reached from here; as it is when left out. */
  readonly inside?: InsideAddress;
  /**
   * Milliseconds between two looks at an agent that is up; one that is not, or is left alone, is
   * looked at every two seconds.
   */
  readonly everyMs: number;
  readonly breaker?: BreakerPolicy;
  /** Names that flows have, which no agent may take. */
  readonly reserved: readonly string[];
  /** Gets what goes wrong while looking, which the next look may find in order. */
  readonly report: (bug: unknown) => void;
};

const patience: BreakerPolicy = { failures: 5, pauseMs: 2_000, maxPauseMs: 60_000 };
const addMs = 5_000;
const downMs = 2_000;

/** Opens the registry and begins to look at its agents; the first looks are not waited for. */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  const { policy, breaker = patience, inside = (url: string) => url } = options;
  const deps = { policy, breaker, inside };
  const { file, reserved } = options;
  const book = agentBook(options.configured, { ...deps, file, reserved });
  const strangers = createStrangers((url) =>
    knownAgent({ ...credentialsAt(book, url), name: url, url, source: "registered" }, deps),
  );
  const closing = new AbortController();
  const look = async (isMeant: (agent: KnownAgent) => boolean) => {
    await book.reread();
    const meant = book.all().filter(isMeant);
    await Promise.all(meant.map((agent) => agent.look(closing.signal)));
  };
  const due = (agent: KnownAgent) => isDue(agent.state(), agent.unseenMs(), options.everyMs);
  const registered = ({ name, url }: Pick<AgentAddress, "name" | "url">) => {
    const known = book.get(name);
    return known !== undefined && isSameUrl(known.address.url, url) ? known : undefined;
  };
  let looking: Promise<void> | undefined;
  // While an agent hangs, the next look comes once it has been given up.
  const lookAgain = () => {
    looking ??= look(due)
      .catch((error) => {
        if (!closing.signal.aborted) options.report(error);
      })
      .finally(() => {
        looking = undefined;
      });
  };
  await book.reread();
  lookAgain();
  const timer = setInterval(lookAgain, Math.min(options.everyMs, downMs));
  return {
    list: () => book.all().map((agent) => agent.state()),
    get: (name) => book.get(name)?.state(),
    async add(agent) {
      const known = sameIn(book, agent) ?? (await book.keep(await named(agent)));
      await known.look(closing.signal);
      return known.state();
    },
    eachAgent: (listener) => book.each(listener),
    remove: (name) => book.forget(name),
    fetch: (url) => book.ownerOf(url)?.fetch ?? fetch,
    isOwn: (url) => book.ownerOf(url)?.address.isOwn === true,
    connect: async (agent, signal) => registered(agent)?.connect(signal) ?? strangers.connect(agent.url, signal),
    retrySignal: (agent) => (registered(agent) ?? strangers.get(agent.url))?.retrySignal(),
    refresh: () => look(() => true),
    async close() {
      clearInterval(timer);
      closing.abort();
      await looking;
    },
  };

  async function named({ url, name, token }: NewAgent) {
    const address = { name: name ?? url, url, token, source: "registered" } as const;
    const limit = AbortSignal.timeout(addMs);
    const client = await knownAgent(address, deps)
      .connect(AbortSignal.any([closing.signal, limit]))
      .catch((error) => {
        const late = `There was no card within ${addMs / 1000} s.`;
        const isAway = error instanceof AppError && sick.has(error.code);
        if (!(error instanceof AppError) && error !== limit.reason) throw error;
        // What is wrong is at the address, not here: this gateway is there and may be used, and
        // says so.
        const isTheirs = isAway || error === limit.reason || error.code === "unauthorized";
        // A refusal is our own and says what can be done.
        const why = error === limit.reason ? late : error.code === "forbidden" ? error.message : reasonOf(error);
        const how = error instanceof AppError && error.code === "unauthorized" ? " It may want another `token`." : "";
        const code = isTheirs ? "unreachable" : error.code;
        throw new AppError(code, `There is no agent to be had at ${url}: ${why}${how}`, { cause: error });
      });
    return { name: name ?? nameFrom(client.card.name), url, ...(token !== undefined && { token }) };
  }
}

/** The credentials for an address below a known agent's. */
function credentialsAt(book: AgentBook, url: string): Pick<AgentAddress, "token" | "credentials"> {
  const { token, credentials } = book.ownerOf(url)?.address ?? {};
  return { token, credentials };
}

/** Whether to look at an agent again: one that is well only after a while. */
export function isDue(
  { health, breaker }: Pick<KnownAgentState, "health" | "breaker">,
  unseenMs: number,
  everyMs: number,
): boolean {
  const isWell = health === "up" && breaker === "closed";
  return !isWell || unseenMs >= everyMs;
}

function sameIn(book: AgentBook, { url, name, token }: NewAgent) {
  return book
    .all()
    .find(
      ({ address }) =>
        isSameUrl(address.url, url) &&
        [undefined, address.name].includes(name) &&
        [undefined, address.token].includes(token),
    );
}

/** A name for paths and flows from a title for people. */
export function nameFrom(title: string): string {
  const name = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return name === "" ? "agent" : name;
}

/** What went wrong, down to what the system or the other server said. */
function reasonOf(error: AppError): string {
  const said: string[] = [];
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    // The first sentence is what happened; what follows is advice about the program that asked.
    const [sentence = ""] = one.message.split(/\.(?:\s|$)/);
    if (!said.some((earlier) => earlier.includes(sentence))) said.push(sentence);
  }
  return `${said.join(": ").slice(0, 500)}.`;
}
