import type { Socket } from "node:net";
import type { Workspace } from "../../core/workspace.ts";
import type { ProfileSettings } from "../browser-profile/profile-store.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { TellRequest } from "../egress/proxy-access.ts";
import type { UpstreamProxy } from "../egress/proxy-dial.ts";
import type { Resolve } from "../egress/resolve.ts";

/** Configures a server's browser, and bounds what a conversation may use of it. */
export type BrowserSettings = {
  /**
   * Folder for profiles and unfinished downloads. Created when needed; this process leaves nothing
   * behind in it.
   */
  readonly folder: string;
  readonly policy: EgressPolicy;
  /** The operator's own proxy, to which everything is forwarded. */
  readonly upstream?: UpstreamProxy | undefined;
  /** The system's by default. */
  readonly resolve?: Resolve | undefined;
  readonly headless: boolean;
  /** Switches off the same-origin policy, CSP and certificate checks; for your own pages. */
  readonly disableSecurity: boolean;
  readonly extraArgs: readonly string[];
  /** The program to start; by default, one found on this machine. */
  readonly executable?: string | undefined;
  /** A running browser, by its DevTools address (`http:`, `ws:`). */
  readonly cdpUrl?: string | undefined;
  /** A running browser, by the address of a Playwright server (`ws:`). */
  readonly wssUrl?: string | undefined;
  /**
   * Conversations of the principal `local` use the browser's own context, with the log-ins of its
   * user: that of `cdpUrl`, or of `userDataDir` for a browser that is started.
   */
  readonly ownContext?: boolean;
  /** The data of the user's own browser; an absolute path. */
  readonly userDataDir?: string | undefined;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly locale: string;
  /** The profile that conversations keep their log-ins in; without it none are kept. */
  readonly profile?: ProfileSettings | undefined;
  readonly timezone?: string | undefined;
  /** Where pages are told to be; without it they are told nothing. */
  readonly geolocation?:
    | { readonly latitude: number; readonly longitude: number; readonly accuracy: number }
    | undefined;
  /** How long an act waits for a page that is loading or busy, in milliseconds. */
  readonly patienceMs: number;
  /** A conversation that was idle this long loses its browsing. */
  readonly idleMs: number;
  /**
   * Whether a task of a conversation has not ended, as one that waits for a person's answer: such a
   * conversation may be idle for a day.
   */
  readonly isAtWork?: ((workspace: Workspace) => Promise<boolean>) | undefined;
  /**
   * How many conversations browse at a time; with one more, the one idle longest loses its
   * browsing.
   */
  readonly contexts: number;
  /**
   * Connects to a port on the loopback of a conversation's shell: what `localhost` is for its
   * pages, except where the policy allows that host. Without it, such addresses are refused.
   */
  readonly loopback?: ((workspace: Pick<Workspace, "root">, port: number) => Promise<Socket>) | undefined;
  /** Tabs of a conversation; further tabs that pages open are closed. */
  readonly tabs: number;
  /** Bounds of one download: its bytes, and the time for it. */
  readonly downloadBytes: number;
  readonly downloadMs: number;
  /** The name of a secret that a text holds: downloads with one are not kept. */
  readonly secretIn?: ((text: string) => string | undefined) | undefined;
  /**
   * Called with every request that reaches the proxy, including those the browser makes for itself.
   */
  readonly onRequest?: TellRequest;
};

/** The settings of a browser that is configured nowhere. */
export const browserDefaults = {
  headless: true,
  disableSecurity: false,
  extraArgs: [],
  viewport: { width: 1280, height: 800 },
  locale: "en-US",
  patienceMs: 30_000,
  idleMs: 600_000,
  contexts: 8,
  tabs: 20,
  downloadBytes: 100_000_000,
  downloadMs: 300_000,
} as const satisfies Partial<BrowserSettings>;
