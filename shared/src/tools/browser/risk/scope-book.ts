import { join } from "node:path";
import * as z from "zod";
import type { Workspace } from "../../../workspace/workspace.ts";
import { isWritten, withoutScheme } from "./links.ts";
import { entryFor } from "./named-hosts.ts";
import type { Scope } from "./scope.ts";

const stored = z.object({ read: z.boolean(), chosen: z.array(z.string()) });

type Notes = { read: boolean; chosen: string[]; shown: Set<string>; wrote: string };

const mostShown = 20_000;
const mostWritten = 200_000;
const mostConversations = 200;

/**
 * What is known of each conversation for judging where its data may go. That something was read, and which hosts were chosen before, is kept
 * beside the workspace; addresses that were shown are forgotten with the process, which only means that a person is asked about them again.
 */
export interface ScopeBook {
  of(workspace: Workspace, said: readonly string[]): Promise<Scope>;
  /** The agent chooses this address of its own; its host is in scope when nothing was read yet. */
  choose(workspace: Workspace, url: URL): Promise<void>;
  /** The agent reads something of the web, which gives these addresses. Those it has written itself do not count. */
  read(workspace: Workspace, links: readonly string[]): Promise<void>;
  /** A call with this address is made: once it was opened, it carries nothing new. */
  opened(workspace: Workspace, url: URL): Promise<void>;
  /** The agent writes this into a page or a query, where an address in it may come back as a link. */
  wrote(workspace: Workspace, text: string): Promise<void>;
}

/** A scope book; `trusted` are the hosts of the configuration. */
export function createScopeBook(trusted: readonly string[]): ScopeBook {
  const books = new Map<string, Promise<Notes>>();
  const notesOf = (workspace: Workspace): Promise<Notes> => {
    const known = books.get(workspace.root) ?? load(workspace);
    books.delete(workspace.root);
    books.set(workspace.root, known);
    const [oldest] = books.keys();
    if (books.size > mostConversations && oldest !== undefined) books.delete(oldest);
    return known;
  };
  return {
    async of(workspace, said) {
      return { ...(await notesOf(workspace)), said, trusted };
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
      for (const link of links) if (!isWritten(link, notes.wrote)) show(notes, link);
      if (notes.read) return;
      notes.read = true;
      await save(workspace, notes);
    },
    async opened(workspace, url) {
      show(await notesOf(workspace), url.href);
    },
    async wrote(workspace, text) {
      const notes = await notesOf(workspace);
      notes.wrote = `${notes.wrote}\n${withoutScheme(text)}`.slice(-mostWritten);
    },
  };
}

function show({ shown }: Notes, link: string): void {
  shown.delete(link);
  shown.add(link);
  const [oldest] = shown;
  if (shown.size > mostShown && oldest !== undefined) shown.delete(oldest);
}

/** A file that cannot be understood may be of a conversation that has read something. */
async function load(workspace: Workspace): Promise<Notes> {
  const file = Bun.file(fileOf(workspace));
  const rest = { shown: new Set<string>(), wrote: "" };
  if (!(await file.exists())) return { read: false, chosen: [], ...rest };
  const parsed = stored.safeParse(await file.json().catch(() => undefined));
  return parsed.success ? { ...parsed.data, ...rest } : { read: true, chosen: [], ...rest };
}

async function save(workspace: Workspace, { read, chosen }: Notes): Promise<void> {
  await Bun.write(fileOf(workspace), JSON.stringify({ read, chosen }));
}

function fileOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "browser-scope.json");
}
