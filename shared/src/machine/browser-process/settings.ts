import type { EgressPolicy } from "../egress/policy.ts";
import type { TellRequest } from "../egress/proxy-access.ts";
import type { UpstreamProxy } from "../egress/proxy-dial.ts";
import type { Resolve } from "../egress/resolve.ts";

/** What the browser of a server is like and what a conversation may have of it. */
export type BrowserSettings = {
  /**
   * Folder for profiles and unfinished downloads; made when it is needed, and left without a trace
   * of this process.
   */
  readonly folder: string;
  readonly policy: EgressPolicy;
  /** The operator's own proxy, which everything goes on to. */
  readonly upstream?: UpstreamProxy | undefined;
  /** The system's when left out. */
  readonly resolve?: Resolve | undefined;
  readonly headless: boolean;
  /** Switches off the same-origin policy, CSP and certificate checks; for pages of one's own. */
  readonly disableSecurity: boolean;
  readonly extraArgs: readonly string[];
  /** The program to start; found on this machine when left out. */
  readonly executable?: string | undefined;
  /** A browser that runs already, by its DevTools address (`http:`, `ws:`). */
  readonly cdpUrl?: string | undefined;
  /** A browser that runs already, by the address of a Playwright server (`ws:`). */
  readonly wssUrl?: string | undefined;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly locale: string;
  /** A conversation that did nothing for so long loses its browsing. */
  readonly idleMs: number;
  /**
   * Conversations that browse at a time; with one more, the one idle longest loses its browsing.
   */
  readonly contexts: number;
  /** Tabs of a conversation; those that pages open beyond are closed. */
  readonly tabs: number;
  /** Bytes of one download, and time for it. */
  readonly downloadBytes: number;
  readonly downloadMs: number;
  /** How long a question of a page waits for an answer. */
  readonly dialogMs: number;
  /** Told of every request that reaches the proxy, those the browser makes for itself included. */
  readonly onRequest?: TellRequest;
};

/** What holds unless it is set otherwise. */
export const browserDefaults = {
  headless: true,
  disableSecurity: false,
  extraArgs: [],
  viewport: { width: 1280, height: 800 },
  locale: "en-US",
  idleMs: 600_000,
  contexts: 8,
  tabs: 20,
  downloadBytes: 100_000_000,
  downloadMs: 300_000,
  dialogMs: 30_000,
} as const satisfies Partial<BrowserSettings>;
