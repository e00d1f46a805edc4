import { isIP } from "node:net";
import { covers } from "../../machine/egress/policy.ts";
import { isPublicAddress } from "../../machine/egress/public-address.ts";
import { addressesNamedIn, entryFor, hostsNamedIn, typedWords } from "./named-hosts.ts";

/** What decides where a conversation's data may go. */
export type TrustScope = {
  /**
   * Whether the conversation has read anything that somebody else may have written; before that,
   * nobody but the user can have led the agent.
   */
  readonly led: boolean;
  /** Whether the conversation has read anything that is not public. */
  readonly private: boolean;
  /** Hosts the agent chose before it was led, as entries. */
  readonly chosen: readonly string[];
  /**
   * Addresses that pages and search results gave, each with the number of addresses it was chosen
   * from.
   */
  readonly shown: ReadonlyMap<string, number>;
  /** Bits that choices among addresses have revealed so far, by site. */
  readonly spent: ReadonlyMap<string, number>;
  /** Addresses that the agent which gave the task was free to open. */
  readonly given: readonly string[];
  /** What the user said, and the hosts of the configuration. */
  readonly said: readonly string[];
  readonly trusted: readonly string[];
};

/** What choosing one address, or one thing to send, among others reveals to a site, in bits. */
export type Price = { readonly site: string; readonly bits: number };

/** Whether text that the user typed, or the configuration, names a host. */
export function isNamed(url: URL, { said, trusted }: Pick<TrustScope, "said" | "trusted">): boolean {
  return covered(url, [...trusted, ...said.flatMap((text) => hostsNamedIn(typedWords(text)))]);
}

/**
 * Whether what the agent knows may be typed into a page at this address: its host is named, or the
 * agent chose it before it was led and knows nothing that is not public.
 */
export function isInScope(url: URL, scope: TrustScope): boolean {
  return isNamed(url, scope) || (!scope.private && covered(url, scope.chosen));
}

/**
 * What opening an address costs; undefined when a person has to decide, because the address could
 * carry what the agent knows. Hosts in scope are free, and so are the agent's own choices before it
 * was led. An address that the user's words, a page or a search result gave in full, or such an
 * address cut short at `/`, `?` or `#`, reveals only which one of them it is.
 */
export function priceOf(url: URL, scope: TrustScope): Price | undefined {
  const site = siteOf(url);
  if (isInScope(url, scope)) return { site, bits: 0 };
  const ways = waysTo(url.href, scope);
  if (ways !== undefined) return { site, bits: scope.led ? Math.log2(ways + 1) : 0 };
  return !scope.led && !isMentioned(url, scope) ? { site, bits: 0 } : undefined;
}

/**
 * How much a task may reveal, by the addresses it opens, to one site that nobody named and to all
 * of them together, in bits: less when it knows something that is not public.
 */
const budgets = { open: { site: 96, all: 512 }, private: { site: 48, all: 128 } };

/** Whether these prices are within the remaining budget. */
export function isAffordable(prices: readonly Price[], { spent, private: holdsPrivate }: TrustScope): boolean {
  const budget = holdsPrivate ? budgets.private : budgets.open;
  const sum = new Map(spent);
  for (const { site, bits } of prices) sum.set(site, (sum.get(site) ?? 0) + bits);
  const isWithin = ({ site, bits }: Price) => bits === 0 || (sum.get(site) ?? 0) <= budget.site;
  const all = [...sum.values()].reduce((total, bits) => total + bits, 0);
  return prices.every(({ bits }) => bits === 0) || (prices.every(isWithin) && all <= budget.all);
}

/**
 * What a search costs: nothing while the task holds only public data. Otherwise its words must be
 * the user's, and the search reveals which of them; undefined when they are not.
 */
export function priceOfQuery(query: string, { private: holdsPrivate, said }: TrustScope): Price | undefined {
  if (!holdsPrivate) return { site: searching, bits: 0 };
  const known = new Set(said.flatMap(wordsIn));
  const words = wordsIn(query);
  return words.every((word) => known.has(word))
    ? { site: searching, bits: words.length * Math.log2(known.size + 1) }
    : undefined;
}

const searching = "search engines";

function wordsIn(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  );
}

/** Whether an address may be for few people: its host is in a private network. */
export function isPrivatePlace({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes(".") || /\.(?:localhost|local|internal|intranet|lan|corp|home|home\.arpa)$/.test(host);
}

/** How many addresses this one was chosen from; undefined when nobody gave it. */
function waysTo(href: string, { shown, given, said }: TrustScope): number | undefined {
  const known = shown.get(href);
  if (known !== undefined) return known;
  const cut = href.replace(/\/$/, "");
  const isCut = (given: string) => given.startsWith(cut) && /^(?:$|[/?#])/.test(given.slice(cut.length));
  const mentioned = [...given, ...said.flatMap(addressesNamedIn)];
  const found = [
    ...[...shown].filter(([given]) => isCut(given)).map(([given, ways]) => Math.max(1, ways) * placesToCut(given)),
    ...mentioned.filter(isCut).map((given) => mentioned.length * placesToCut(given)),
  ];
  return found.length === 0 ? undefined : Math.min(...found);
}

function placesToCut(given: string): number {
  return Math.max(1, (given.match(/[/?#]/g)?.length ?? 0) - 2);
}

/** Whether any of the user's messages mentions a host, pasted words included. */
function isMentioned(url: URL, { said }: TrustScope): boolean {
  return covered(url, said.flatMap(hostsNamedIn));
}

function covered(url: URL, entries: readonly string[]): boolean {
  return entries.some((entry) => covers(entry, url));
}

/**
 * The site of a host. Anyone who can read what one host receives can read what all hosts of its
 * site receive. A site is the last two names (three below `co.uk` and similar), or the IP address.
 */
export function siteOf({ hostname }: URL): string {
  if (entryFor(new URL(`http://${hostname}`)) === hostname) return hostname;
  const names = hostname.replace(/\.$/, "").split(".");
  const isShared = /^(?:co|com|org|net|ac|gov|edu|or|ne)$/.test(names.at(-2) ?? "") && names.at(-1)?.length === 2;
  return names.slice(isShared ? -3 : -2).join(".");
}
