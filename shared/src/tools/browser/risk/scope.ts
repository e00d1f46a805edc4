import { covers } from "../../../egress/policy.ts";
import { hostsNamedIn } from "./named-hosts.ts";

/** What decides where data of a conversation may go. */
export type Scope = {
  /** Whether anything of the web was read in the conversation; before that nobody but the user can have led the agent. */
  readonly read: boolean;
  /** Hosts the agent chose before that, as entries. */
  readonly chosen: readonly string[];
  /** Addresses that pages and search results gave as links. */
  readonly shown: ReadonlySet<string>;
  /** What the user said, and the hosts of the configuration. */
  readonly said: readonly string[];
  readonly trusted: readonly string[];
};

/** Whether what the agent knows may be typed into a page at this address: its host is the user's, the configuration's or the agent's own choice. */
export function isInScope(url: URL, { chosen, said, trusted }: Scope): boolean {
  return [...trusted, ...chosen, ...said.flatMap(hostsNamedIn)].some((entry) => covers(entry, url));
}

/**
 * Whether an address may be opened without a person: nothing was read yet, its host is in scope, or the whole of it was given by a page or a
 * search result, so that it can carry nothing the agent knows. An address that was given and is cut short at `/`, `?` or `#` carries nothing either.
 */
export function mayOpen(url: URL, scope: Scope): boolean {
  return !scope.read || isInScope(url, scope) || wasShown(url.href, scope.shown);
}

function wasShown(href: string, shown: ReadonlySet<string>): boolean {
  if (shown.has(href)) return true;
  const cut = href.replace(/\/$/, "");
  for (const given of shown) if (given.startsWith(cut) && /^[/?#]/.test(given.slice(cut.length))) return true;
  return false;
}
