import { within } from "../../core/async/within.ts";
import type { Workspace } from "../../core/workspace.ts";
import {
  hasSomethingOf,
  type OpenProfile,
  type ProfileSettings,
  renewMs,
  type StorageState,
} from "../browser-profile/profile-store.ts";
import type { Notices } from "./notices.ts";

/** What is saved of a conversation's browsing, and when it was used. */
export type SavedBrowsing = {
  /** By `performance.now()`. */
  usedAt(): number;
  /** Undefined while it is in use. */
  idleSince(): number | undefined;
  storage(): Promise<StorageState>;
};

/** A profile while a conversation browses with it. */
export interface KeptProfile {
  /** What a context begins with. */
  state(): StorageState;
  /** Whether it had something of the site of an address when the browsing began. */
  hasSomethingOf(url: URL): boolean;
  /** From now on stores what the browsing changes, a moment after it was last used. */
  follow(browsing: SavedBrowsing): void;
  /** Stores it for the last time and lets other conversations have the profile. */
  end(): Promise<void>;
}

const tickMs = 1_000;
const restMs = 1_500;
const readMs = 5_000;
const saveMs = 10_000;
/** A larger state loses the storage of pages, and keeps its cookies. */
const maxCharacters = 10_000_000;

/**
 * Opens a conversation's profile. `onLost` is told that it was deleted, or taken over. Rejects if
 * it cannot be read.
 */
export async function keepProfile(
  { name, store }: ProfileSettings,
  {
    workspace,
    notices,
    onLost,
  }: { readonly workspace: Workspace; readonly notices: Notices; onLost(why: string): void },
): Promise<KeptProfile> {
  const { principal, metaRoot } = workspace;
  const profile = await store.open(principal, name, metaRoot);
  if (!profile.isKept)
    notices.add(
      `Another conversation is using the browser profile ${name}: this one begins with its log-ins as last saved, and what it changes of them is not kept.`,
    );
  let now = profile.state;
  let stop: () => Promise<void> = async () => undefined;
  return {
    state: () => now,
    hasSomethingOf: (url) => hasSomethingOf(profile.state, url),
    follow(browsing) {
      if (!profile.isKept) return;
      stop = saving(browsing, profile, {
        saved: (state) => {
          now = state;
        },
        failed: () => notices.add(`The browser profile ${name} could not be saved.`),
        cut: () =>
          notices.add(`The storage of pages is too large for the browser profile ${name}: only cookies are kept.`),
        lost: () =>
          onLost(
            `The browser profile ${name} was deleted: the tabs, cookies and log-ins of this conversation are gone.`,
          ),
      });
    },
    async end() {
      await stop();
      await within(saveMs, profile.release());
    },
  };
}

type Told = { saved(state: StorageState): void; failed(): void; cut(): void; lost(): void };

/** Saves until it is stopped, and then once more. */
function saving(browsing: SavedBrowsing, profile: OpenProfile, told: Told): () => Promise<void> {
  let savedAt = 0;
  let renewedAt = performance.now();
  let stopped = false;
  let working: Promise<void> = Promise.resolve();
  const save = async (): Promise<void> => {
    const used = browsing.usedAt();
    if (used === savedAt) return;
    const state = await stateOf(browsing, told);
    // A page that does not answer, or a dialog: there will be another moment.
    if (state === undefined) return;
    const isSaved = await profile.save(state);
    // What could not be stored is tried again.
    savedAt = used;
    if (isSaved) told.saved(state);
    else told.lost();
  };
  const tick = async (): Promise<void> => {
    if (performance.now() - renewedAt > renewMs) {
      renewedAt = performance.now();
      if (!(await profile.renew())) return told.lost();
    }
    const idle = browsing.idleSince();
    if (idle !== undefined && performance.now() - idle > restMs) await save();
  };
  const next = (): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      working = tick().catch(told.failed).finally(next);
    }, tickMs);
    timer.unref();
  };
  next();
  return async () => {
    stopped = true;
    await within(saveMs, working);
    await within(saveMs, save());
  };
}

async function stateOf(browsing: SavedBrowsing, { cut }: Told): Promise<StorageState | undefined> {
  const state = await within(readMs, browsing.storage());
  if (state === undefined || JSON.stringify(state).length <= maxCharacters) return state;
  cut();
  return { cookies: state.cookies, origins: [] };
}
