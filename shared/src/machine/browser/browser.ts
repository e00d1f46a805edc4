import type { BrowserContext, Page, Request, Route } from "playwright";
import type { Workspace } from "../../core/workspace.ts";
import type { LoadingPage } from "./patience.ts";
import type { JudgeHop } from "./request-hops.ts";
import type { LoadingAnew, SentDocument } from "./sent-documents.ts";

/** A tab and its number: counted from 1 in the order of opening, never reused in a conversation. */
export type Tab = { readonly id: number; readonly page: Page };

/**
 * A dialog that blocks a page: a question, a prompt, or leaving with unsaved input. Alerts are
 * accepted immediately and reported.
 */
export type OpenDialog = {
  readonly kind: "alert" | "confirm" | "prompt" | "beforeunload";
  readonly message: string;
  readonly defaultText: string;
  /** Closes the dialog. `text` answers a prompt. */
  answer(accept: boolean, text?: string): Promise<void>;
};

/** The bounds of an action on a page. */
export type ActOptions = { readonly signal: AbortSignal; readonly timeoutMs: number };

/**
 * One conversation's tabs, cookies and downloads, shared with no other conversation; in the user's
 * own context, its tabs only. All its network traffic goes through the egress policy, on every hop
 * and for every kind of request, except as `BrowserDescription.egress` says.
 */
export interface Browsing {
  readonly context: BrowserContext;
  /** The open tabs in the order of their numbers; at least one. */
  tabs(): readonly Tab[];
  /**
   * The tab that actions apply to: the newest one that a page opened itself, or the one chosen
   * last.
   */
  active(): Tab;
  /** Makes a tab the active one. Rejects with `not_found`, naming the open tabs. */
  activate(id: number): Promise<Tab>;
  openTab(): Promise<Tab>;
  /** Closes a tab; if it was the last, an empty one takes its place. */
  closeTab(id: number): Promise<void>;
  /**
   * Runs `act` on the active page. It ends early, with undefined, when a dialog opens that blocks
   * the page. A dialog that is already open is dismissed first. Rejects with `timeout` when it
   * takes too long (also when Playwright times out first; a page that is loading is waited for
   * longer, as `Patience` says), with `unavailable` when the page or the browser crashed, and with
   * `forbidden` when the page reached an address that is not http(s). A page that a second time
   * does not answer is replaced by an empty tab or, where it cannot even be closed, by a fresh
   * context; the message says which.
   */
  act<T>(act: (page: Page) => Promise<T>, options: ActOptions): Promise<T | undefined>;
  /** The dialog that blocks the active page. */
  dialog(): OpenDialog | undefined;
  /** The page that the active tab is about to show, while its server takes its time. */
  loading(): LoadingPage | undefined;
  /** Whether scripts of the active page asked for something a moment ago that has not come yet. */
  isAsking(): boolean;
  /** What loading the active page anew would send once more; undefined if it would only read. */
  resends(how: LoadingAnew): Promise<SentDocument | undefined>;
  /**
   * What happened on its own since the last call, one sentence each, bounded: dialogs closed, tabs
   * opened, files downloaded (with their path in the workspace), requests refused and why, a crash,
   * a fresh context.
   */
  notices(): readonly string[];
  /**
   * Whether it began with something kept of the site of an address, such as a log-in: what the site
   * shows may then not be public.
   */
  hasKept(url: URL): boolean;
  /** Looks at the requests of its pages, and only of those, before they are made. */
  route(pattern: RegExp, handler: (route: Route) => Promise<void>): Promise<unknown>;
  /**
   * From now on each hop of what its pages ask for, redirects and WebSockets too, is only made if
   * `judge` lets it; `RequestHops` says what it does not see. WebSockets: on pages loaded from
   * then.
   */
  guard(judge: JudgeHop): Promise<void>;
  /** As `RequestHops.follows`. */
  follows(request: Request): Promise<boolean | undefined>;
  /** Adds a sentence to the notices. */
  tell(sentence: string): void;
}

/** A page after its scripts ran: its final URL, and its document as HTML. */
export type RenderedPage = { readonly url: string; readonly html: string };

/**
 * Describes the browser: started by us (`chromium`), or already running and reached by DevTools or
 * a Playwright server.
 */
export type BrowserDescription = {
  readonly kind: "chromium" | "cdp" | "playwright";
  /** This and the following are undefined until the browser was first started. */
  readonly version: string | undefined;
  /** What confines its pages, for people. */
  readonly sandbox: string | undefined;
  /** What the egress policy covers, for people. */
  readonly egress: string | undefined;
};

/**
 * The browser of this server: started for the first page and shared by the conversations, with one
 * context for each.
 */
export interface Browsers {
  /**
   * The conversation's browsing; opened if there is none (the first time, after idle time, after a
   * crash).
   */
  open(workspace: Workspace, signal: AbortSignal): Promise<Browsing>;
  /** The conversation's browsing if it is open; starts nothing. */
  peek(workspace: Workspace): Browsing | undefined;
  /** Closes the conversation's browsing immediately. */
  release(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

/** How a page is rendered. */
export type RenderOptions = ActOptions & { read?(page: Page): Promise<string> };

/** The server's own interface to the browser, which can do more than tools are given. */
export interface BrowserHost extends Browsers {
  /**
   * Loads a page in a throwaway context, as an anonymous visitor sees it; its HTML is the whole
   * document, or what `read` returns. Rejects as `Browsing.act` and `read` do, and with `too_large`
   * for a document of more than 10 million characters.
   */
  render(url: string, options: RenderOptions): Promise<RenderedPage>;
  /**
   * Prints a self-contained HTML document as a PDF (A4) in a throwaway context, without running its
   * scripts. Rejects as `Browsing.act` does.
   */
  print(html: string, options: ActOptions): Promise<Uint8Array>;
  describe(): BrowserDescription;
}
