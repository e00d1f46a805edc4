import { closeAll } from "../../core/async/close-all.ts";
import { abortable, within } from "../../core/async/within.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { BrowserHost } from "./browser.ts";
import { type KeptBrowsing, openBrowsing } from "./browsing.ts";
import { type KeptProfile, keepProfile } from "./keep-profile.ts";
import { createNotices } from "./notices.ts";
import { createPageRenderer } from "./render-page.ts";
import { type SharedBrowser, shareBrowser } from "./shared-browser.ts";
import type { SurroundingsDeps } from "./surroundings.ts";

/** What outlives a conversation's browsing: its last tab's number, and why it must start again. */
type Memory = { tabs: number; lost: string | undefined };

type Entry = {
  readonly workspace: Workspace;
  readonly pending: Promise<KeptBrowsing>;
  ready: KeptBrowsing | undefined;
  profile: KeptProfile | undefined;
};

const longestTickMs = 5_000;
const closeMs = 10_000;
/** As long as a person may take to answer. */
const longestWorkMs = 24 * 60 * 60 * 1000;

/**
 * The browser of this process, which is started when a conversation first opens it and ended when
 * none has used it for a while.
 */
export function createBrowsers(settings: BrowserSettings): BrowserHost {
  const entries = new Map<string, Entry>();
  const memories = new Map<string, Memory>();
  const shared = shareBrowser(settings, (why) => void dropAll(why));
  const renderer = createPageRenderer(shared.get, settings);
  const memoryOf = (root: string) => memoryIn(memories, root);
  const drop = async (root: string, why?: string): Promise<void> => {
    const entry = entries.get(root);
    if (entry === undefined) return;
    entries.delete(root);
    memoryOf(root).lost = why;
    entry.ready?.lose(why ?? "The browser was closed.");
    const browsing = await entry.pending.catch(() => undefined);
    await closeAll(entry.profile?.end, browsing && (() => browsing.close()));
  };
  const dropAll = (why?: string) => Promise.all([...entries.keys()].map((root) => drop(root, why)));
  const begin = async (workspace: Workspace, entry: () => Entry): Promise<KeptBrowsing> => {
    const { root } = workspace;
    const memory = memoryOf(root);
    const notices = createNotices();
    if (memory.lost !== undefined) notices.add(memory.lost);
    const onLost = (why: string) => void (entries.get(root) === entry() && drop(root, why));
    const profile = settings.profile && (await keepProfile(settings.profile, { workspace, notices, onLost }));
    entry().profile = profile;
    const given = { settings, workspace, notices, profile, nextId: () => ++memory.tabs };
    const browsing = await openKept(shared, given);
    memory.lost = undefined;
    return browsing;
  };
  const makeRoom = createRoom(entries, settings, drop);
  const tick = async (): Promise<void> => {
    for (const [root, entry] of entries) {
      const why = await whyIdle(entry, settings);
      // It may have been closed meanwhile, and begun anew.
      if (why !== undefined && entries.get(root) === entry) await drop(root, why);
    }
    if (entries.size === 0 && !renderer.busy()) await shared.rest();
  };
  const stopTicking = repeat(tick, Math.min(longestTickMs, settings.idleMs));
  return {
    async open(workspace, signal) {
      signal.throwIfAborted();
      const { root } = workspace;
      const known = entries.get(root);
      if (known !== undefined) return await abortable(known.pending, signal);
      const entry: Entry = {
        workspace,
        pending: makeRoom().then(() => begin(workspace, () => entry)),
        ready: undefined,
        profile: undefined,
      };
      add(entries, root, entry);
      return await abortable(entry.pending, signal);
    },
    peek: ({ root }) => entries.get(root)?.ready,
    release: ({ root }) => drop(root),
    render: renderer.render,
    print: renderer.print,
    describe: shared.describe,
    async close() {
      stopTicking();
      await closeAll(() => within(closeMs, dropAll()), shared.close);
    },
  };
}

/** Why a conversation that was idle for too long loses its browsing; undefined if it keeps it. */
async function whyIdle(entry: Entry, settings: BrowserSettings): Promise<string | undefined> {
  const since = () => entry.ready?.idleSince() ?? performance.now();
  const idleMs = performance.now() - since();
  const most = idleMs > longestWorkMs ? Math.max(longestWorkMs, settings.idleMs) : settings.idleMs;
  if (idleMs <= most) return undefined;
  const works = idleMs <= longestWorkMs && (await isAtWork(entry, settings));
  const isUsed = performance.now() - since() <= most;
  return works || isUsed ? undefined : `The tabs, cookies and logins were closed after ${most / 1000} s without use.`;
}

function add(entries: Map<string, Entry>, root: string, entry: Entry): void {
  entries.set(root, entry);
  entry.pending.then(
    (browsing) => {
      entry.ready = browsing;
    },
    () => entries.get(root) === entry && entries.delete(root),
  );
}

function memoryIn(memories: Map<string, Memory>, root: string): Memory {
  const memory = memories.get(root) ?? { tabs: 0, lost: undefined };
  memories.set(root, memory);
  return memory;
}

/** Opens a conversation's browsing, and from then on keeps its profile. */
async function openKept(
  shared: SharedBrowser,
  given: Omit<SurroundingsDeps, "running" | "proxy"> & { readonly profile: KeptProfile | undefined },
): Promise<KeptBrowsing> {
  const { profile } = given;
  try {
    const browsing = await openBrowsing({ ...(await shared.get()), ...given });
    profile?.follow(browsing);
    return browsing;
  } catch (error) {
    await profile?.end();
    throw error;
  }
}

/** Repeats work, each time `everyMs` after the last run ended; the timer keeps no process alive. */
function repeat(work: () => Promise<void>, everyMs: number): () => void {
  let stopped = false;
  const next = (): void => {
    if (!stopped) setTimeout(() => void work().finally(next), everyMs).unref();
  };
  next();
  return () => {
    stopped = true;
  };
}

/** Closes a conversation's browsing for one more, where there are as many as there may be. */
function createRoom(
  entries: ReadonlyMap<string, Entry>,
  settings: BrowserSettings,
  drop: (root: string, why: string) => Promise<void>,
): () => Promise<void> {
  const why = "The tabs, cookies and logins of this conversation were closed to make room for others.";
  let choosing: Promise<unknown> = Promise.resolve();
  return async () => {
    if (entries.size < settings.contexts) return;
    const chosen = choosing.then(async () => {
      const oldest = await longestIdle(entries, settings);
      return { closing: oldest === undefined ? undefined : drop(oldest, why) };
    });
    // One after the other: two would choose the same one.
    choosing = chosen.catch(() => undefined);
    await (await chosen).closing;
  };
}

/** Those whose task has not ended, such as one that waits for a person, come after all others. */
async function longestIdle(
  entries: ReadonlyMap<string, Entry>,
  settings: BrowserSettings,
): Promise<string | undefined> {
  const asked = await Promise.all(
    [...entries].map(async ([root, entry]) => ({ root, entry, isAtWork: await isAtWork(entry, settings) })),
  );
  const idle = asked.flatMap(({ root, entry, ...about }) => {
    const since = entries.get(root) === entry ? entry.ready?.idleSince() : undefined;
    return since === undefined ? [] : [{ root, since, ...about }];
  });
  return idle.sort((a, b) => Number(a.isAtWork) - Number(b.isAtWork) || a.since - b.since)[0]?.root;
}

/** Who cannot be asked has no task, so that nothing stays open for ever. */
async function isAtWork({ workspace }: Entry, settings: BrowserSettings): Promise<boolean> {
  return (await settings.isAtWork?.(workspace).catch(() => false)) === true;
}
