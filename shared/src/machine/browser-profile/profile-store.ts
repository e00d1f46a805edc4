import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { KeptText } from "../../core/text/kept-text.ts";
import type { KeptTexts } from "../../core/text/kept-texts.ts";
import { sha256Of } from "../../core/text/sha256.ts";

const cookie = z.looseObject({ name: z.string(), value: z.string(), domain: z.string(), path: z.string() });
const site = z.looseObject({ origin: z.string(), localStorage: z.array(z.unknown()) });
const storageState = z.looseObject({ cookies: z.array(cookie), origins: z.array(site) });
const storedProfile = z.looseObject({
  /** Who may save it. */
  writer: z.string(),
  savedAt: z.number().optional(),
  state: storageState,
});
const holder = z.looseObject({ host: z.string(), pid: z.number(), processStart: z.string() });
const storedLease = z.looseObject({
  writer: z.string(),
  conversation: z.string(),
  until: z.number(),
  /** The process that has it; left out by earlier versions. */
  holder: holder.optional(),
});

/** Cookies and storage of sites, as Playwright takes and gives them. */
export type StorageState = z.output<typeof storageState>;

/** A profile for people: without what is in it. */
export type ProfileEntry = {
  readonly name: string;
  readonly savedAt: number | undefined;
  /** The hosts it has cookies or storage of. */
  readonly sites: readonly string[];
  /** Whether a conversation is using it now. */
  readonly inUse: boolean;
  /** Why it cannot be read. */
  readonly problem?: string;
};

/** A profile that a conversation browses with. */
export interface OpenProfile {
  readonly state: StorageState;
  /** Whether what the conversation does is kept; another one has the profile if not. */
  readonly isKept: boolean;
  /** Stores the state. False if the profile was deleted, or another conversation took it over. */
  save(state: StorageState): Promise<boolean>;
  /** Goes on holding it. False as for `save`. */
  renew(): Promise<boolean>;
  /** Lets others have it. */
  release(): Promise<void>;
}

/** The browser profiles of principals, of which each sees its own alone. */
export interface ProfileStore {
  list(principal: string): Promise<readonly ProfileEntry[]>;
  /** Deletes one, also while it is used. False if there is none. */
  remove(principal: string, name: string): Promise<boolean>;
  /**
   * Opens one, which is made if there is none. One conversation at a time keeps what it does; the
   * same conversation takes it over from a process that died. Rejects if it cannot be read.
   */
  open(principal: string, name: string, conversation: string): Promise<OpenProfile>;
}

/** Which profile conversations browse with; each principal has its own of this name. */
export type ProfileSettings = { readonly name: string; readonly store: ProfileStore };

/** The process that opens profiles, and whether another one is certainly gone. */
type ProfileHolders = {
  readonly own: z.output<typeof holder>;
  isGone(other: z.output<typeof holder>): boolean;
};

/** What a profile may be called. */
export const profileName = /^[a-z\d](?:[a-z\d-]{0,38}[a-z\d])?$/;

/** How long a profile stays with a process that is not heard of. */
const leaseMs = 30_000;
/** How often a holder has to renew. */
export const renewMs = leaseMs / 3;

const nothing: StorageState = { cookies: [], origins: [] };

/**
 * The profiles in these texts, which are sealed. With `holders`, a profile whose process was killed
 * can be had at once; without, when its lease has run out.
 */
export function createProfileStore(texts: KeptTexts, holders?: ProfileHolders): ProfileStore {
  const entryOf = async (folder: string, name: string): Promise<ProfileEntry> => {
    const inUse = isHeld(leaseIn(await texts.text(leaseOf(folder, name)).read()), holders);
    try {
      const { savedAt, state } = await readProfile(texts.text(profileOf(folder, name)), name);
      return { name, savedAt, sites: sitesOf(state), inUse };
    } catch (error) {
      const problem = error instanceof AppError ? error.message : "It cannot be read.";
      return { name, savedAt: undefined, sites: [], inUse, problem };
    }
  };
  return {
    async list(principal) {
      const folder = folderOf(principal);
      const start = profileOf(folder, "");
      const names = (await texts.names(start)).map((name) => name.slice(start.length));
      return await Promise.all(names.map((name) => entryOf(folder, name)));
    },
    async remove(principal, name) {
      if (!profileName.test(name)) return false;
      const folder = folderOf(principal);
      const wasThere = await texts.remove(profileOf(folder, name));
      await texts.remove(leaseOf(folder, name));
      return wasThere;
    },
    open: (principal, name, conversation) => openProfile(texts, folderOf(principal), { name, conversation, holders }),
  };
}

type Opening = {
  readonly name: string;
  readonly conversation: string;
  readonly holders: ProfileHolders | undefined;
};

async function openProfile(
  texts: KeptTexts,
  folder: string,
  { name, conversation, holders }: Opening,
): Promise<OpenProfile> {
  const profile = texts.text(profileOf(folder, name));
  const lease = texts.text(leaseOf(folder, name));
  const writer = crypto.randomUUID();
  const leaseNow = () => JSON.stringify({ writer, conversation, until: Date.now() + leaseMs, holder: holders?.own });
  const isMine = await replaced(lease, (now) => {
    const held = leaseIn(now);
    return isHeld(held, holders) && held?.conversation !== conversation ? undefined : leaseNow();
  });
  if (!isMine) {
    const { state } = (await profile.read()) === undefined ? { state: nothing } : await readProfile(profile, name);
    const lost = async () => false;
    return { state, isKept: false, save: lost, renew: lost, release: async () => undefined };
  }
  // From here on nothing of a former writer is saved, however late it comes.
  await profile.change((now) =>
    JSON.stringify({ ...(now === undefined ? { state: nothing } : parsed(now, name)), writer }),
  );
  const { state } = await readProfile(profile, name);
  return {
    state,
    isKept: true,
    save: (next) =>
      replaced(profile, (now) =>
        now === undefined || parsed(now, name).writer !== writer
          ? undefined
          : JSON.stringify({ writer, savedAt: Date.now(), state: next }),
      ),
    renew: () => replaced(lease, (now) => (leaseIn(now)?.writer === writer ? leaseNow() : undefined)),
    async release() {
      const now = leaseIn(await lease.read());
      if (now?.writer === writer) await texts.remove(leaseOf(folder, name));
    },
  };
}

/** Whether the text was replaced; `next` says by what, or undefined to leave it as it is. */
async function replaced(text: KeptText, next: (now: string | undefined) => string | undefined): Promise<boolean> {
  const left = new Error("left as it is");
  try {
    await text.change((now) => {
      const then = next(now);
      if (then === undefined) throw left;
      return then;
    });
    return true;
  } catch (error) {
    if (error === left) return false;
    throw error;
  }
}

async function readProfile(text: KeptText, name: string) {
  return parsed((await text.read()) ?? "", name);
}

function parsed(text: string, name: string): z.output<typeof storedProfile> {
  try {
    return storedProfile.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError("config_invalid", `The browser profile ${name} cannot be read. Delete it to begin anew.`, {
      cause,
    });
  }
}

function leaseIn(text: string | undefined): z.output<typeof storedLease> | undefined {
  return text === undefined ? undefined : storedLease.safeParse(JSON.parse(text)).data;
}

function isHeld(lease: z.output<typeof storedLease> | undefined, holders: ProfileHolders | undefined): boolean {
  if (lease === undefined || lease.until <= Date.now()) return false;
  return lease.holder === undefined || holders?.isGone(lease.holder) !== true;
}

/** The hosts that a state has cookies or storage of. */
function sitesOf({ cookies, origins }: StorageState): string[] {
  const hosts = [
    ...cookies.map(({ domain }) => domain.replace(/^\./, "")),
    ...origins.map(({ origin }) => URL.parse(origin)?.host ?? origin),
  ];
  return [...new Set(hosts)].toSorted();
}

/**
 * Whether a state has anything of the site of an address: what that site shows may not be public.
 */
export function hasSomethingOf({ cookies, origins }: StorageState, url: URL): boolean {
  return (
    origins.some(({ origin }) => origin === url.origin) ||
    cookies.some(({ domain }) => {
      const host = domain.replace(/^\./, "");
      return url.hostname === host || url.hostname.endsWith(`.${host}`);
    })
  );
}

/** A principal may have any characters. */
function folderOf(principal: string): string {
  return sha256Of(principal).slice(0, 32);
}

function profileOf(folder: string, name: string): string {
  return `${folder}/profile-${name}`;
}

function leaseOf(folder: string, name: string): string {
  return `${folder}/lease-${name}`;
}
