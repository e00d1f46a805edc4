import { join } from "node:path";
import * as z from "zod";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import type { Workspace } from "../../core/workspace.ts";
import { writeJson } from "../../machine/workspace/own-files/json-file.ts";
import { isWritten, withoutScheme } from "./links.ts";
import { entryFor } from "./named-hosts.ts";
import type { Price, TrustScope } from "./scope.ts";

const stored = z.object({
  read: z.boolean(),
  chosen: z.array(z.string()),
  spent: z.record(z.string(), z.number()).default({}),
  signedIn: z.array(z.string()).default([]),
});

type Notes = {
  read: boolean;
  chosen: string[];
  spent: Map<string, number>;
  signedIn: string[];
  shown: Map<string, number>;
  batches: number;
  wrote: string;
};

/** What the book knows about a conversation, for its scope. */
export type Known = Pick<TrustScope, "chosen" | "shown" | "spent" | "trusted"> & { readonly read: boolean };

const maxShown = 20_000;
const maxWritten = 200_000;
const maxConversations = 200;

/**
 * Records about each conversation, for judging where its data may go. Stored beside the workspace:
 * that something was read, which hosts were chosen before, what openings have revealed to sites,
 * and where a password was given. Addresses that were shown are kept in memory only; after a
 * restart, a person is asked about them again.
 */
export interface ScopeBook {
  of(workspace: Workspace): Promise<Known>;
  /**
   * Records that the agent chose this address itself; its host is in scope when nothing was read
   * yet.
   */
  choose(workspace: Workspace, url: URL): Promise<void>;
  /**
   * Records that the agent reads something from the web that gives these addresses. Those the agent
   * has written itself do not count.
   */
  read(workspace: Workspace, links: readonly string[]): Promise<void>;
  /** Records that a call with this address is made: opening it again reveals nothing new. */
  opened(workspace: Workspace, url: URL): Promise<void>;
  /** Records what a call reveals to sites. */
  spend(workspace: Workspace, prices: readonly Price[]): Promise<void>;
  /**
   * Records that the agent writes this into a page or a query, so an address in it may come back as
   * a link.
   */
  wrote(workspace: Workspace, text: string): Promise<void>;
  /** Records that a secret is given to a host: what the host shows from then on is not public. */
  signIn(workspace: Workspace, url: URL): Promise<void>;
  isSignedIn(workspace: Workspace, url: URL): Promise<boolean>;
}

/** A scope book; `trusted` are the hosts of the configuration. */
export function createScopeBook(trusted: readonly string[]): ScopeBook {
  const books = new Map<string, Promise<Notes>>();
  const inTurn = createKeyedQueue();
  const save = (workspace: Workspace, notes: Notes) => inTurn(workspace.root, () => store(workspace, notes));
  const notesOf = (workspace: Workspace): Promise<Notes> => {
    const known = books.get(workspace.root) ?? load(workspace);
    books.delete(workspace.root);
    books.set(workspace.root, known);
    const [oldest] = books.keys();
    if (books.size > maxConversations && oldest !== undefined) books.delete(oldest);
    return known;
  };
  return {
    async of(workspace) {
      return { ...(await notesOf(workspace)), trusted };
    },
    async choose(workspace, url) {
      const notes = await notesOf(workspace);
      const entry = entryFor(url);
      if (notes.read || notes.chosen.includes(entry)) return;
      notes.chosen.push(entry);
      await save(workspace, notes);
    },
    async read(workspace, links) {
      const notes = await notesOf(workspace);
      showAll(
        notes,
        links.filter((link) => !isWritten(link, notes.wrote)),
      );
      if (notes.read) return;
      notes.read = true;
      await save(workspace, notes);
    },
    async opened(workspace, url) {
      show(await notesOf(workspace), url.href, 0);
    },
    async spend(workspace, prices) {
      const costly = prices.filter(({ bits }) => bits > 0);
      if (costly.length === 0) return;
      const notes = await notesOf(workspace);
      for (const { site, bits } of costly) notes.spent.set(site, (notes.spent.get(site) ?? 0) + bits);
      await save(workspace, notes);
    },
    async wrote(workspace, text) {
      const notes = await notesOf(workspace);
      notes.wrote = `${notes.wrote}\n${withoutScheme(text)}`.slice(-maxWritten);
    },
    async signIn(workspace, url) {
      const notes = await notesOf(workspace);
      if (notes.signedIn.includes(url.host)) return;
      notes.signedIn.push(url.host);
      await save(workspace, notes);
    },
    async isSignedIn(workspace, url) {
      return (await notesOf(workspace)).signedIn.includes(url.host);
    },
  };
}

/**
 * Records addresses that were given together. Which page or result an address is taken from is a
 * choice too, so the number of addresses is multiplied by the number of pages and results.
 */
function showAll(notes: Notes, links: readonly string[]): void {
  const given = new Set(links);
  if ([...given].every((link) => notes.shown.has(link))) return;
  notes.batches++;
  for (const link of given) show(notes, link, given.size * notes.batches);
}

function show({ shown }: Notes, link: string, ways: number): void {
  const least = Math.min(ways, shown.get(link) ?? ways);
  shown.delete(link);
  shown.set(link, least);
  const [oldest] = shown.keys();
  if (shown.size > maxShown && oldest !== undefined) shown.delete(oldest);
}

/** A file that cannot be parsed may belong to a conversation that has read something. */
async function load(workspace: Workspace): Promise<Notes> {
  const file = Bun.file(fileOf(workspace));
  const rest = { shown: new Map<string, number>(), batches: 0, wrote: "" };
  const nothing = { read: false, chosen: [], spent: new Map<string, number>(), signedIn: [], ...rest };
  if (!(await file.exists())) return nothing;
  const parsed = stored.safeParse(await file.json().catch(() => undefined));
  if (!parsed.success) return { ...nothing, read: true };
  return { ...parsed.data, spent: new Map(Object.entries(parsed.data.spent)), ...rest };
}

function store(workspace: Workspace, { read, chosen, spent, signedIn }: Notes): Promise<void> {
  return writeJson(fileOf(workspace), { read, chosen, spent: Object.fromEntries(spent), signedIn });
}

function fileOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "browser-scope.json");
}
