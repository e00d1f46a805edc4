import type { BrowserContext, Page } from "playwright";
import type { Workspace } from "../../core/workspace.ts";

/**
 * A tab by its number: counted from 1 in the order of opening, never given twice in a conversation.
 */
export type Tab = { readonly id: number; readonly page: Page };

/**
 * A dialog that a page waits on: a question, a prompt, or leaving with unsaved input. Alerts are
 * accepted at once and told.
 */
export type OpenDialog = {
  readonly kind: "alert" | "confirm" | "prompt" | "beforeunload";
  readonly message: string;
  readonly defaultText: string;
  /** Ends the dialog. `text` answers a prompt. */
  answer(accept: boolean, text?: string): Promise<void>;
};

/** How an act on a page is bounded. */
export type ActOptions = { readonly signal: AbortSignal; readonly timeoutMs: number };

/**
 * One conversation's tabs, cookies and downloads, shared with no other conversation. All its
 * network goes through the egress policy, on every hop and for every kind of request.
 */
export interface Browsing {
  readonly context: BrowserContext;
  /** The open tabs in the order of their numbers; at least one. */
  tabs(): readonly Tab[];
  /** The tab that is acted on: the newest a page opened itself, or the one chosen last. */
  active(): Tab;
  /** Makes a tab the one acted on. Rejects with `not_found` naming those there are. */
  activate(id: number): Promise<Tab>;
  openTab(): Promise<Tab>;
  /** Closes a tab; when it was the last, an empty one takes its place. */
  closeTab(id: number): Promise<void>;
  /**
   * Runs `act` on the active page. It ends early, with undefined, when a dialog opens that holds
   * the page up. A dialog that is open when it begins is dismissed first. Rejects with `timeout`
   * when it takes too long (also where Playwright says so first), with `unavailable` when the page
   * or the browser crashed, with `forbidden` when the page got to an address that is none of the
   * web. A page that does not come back is replaced by an empty tab or, where it cannot even be
   * closed, a fresh context, which the message says.
   */
  act<T>(act: (page: Page) => Promise<T>, options: ActOptions): Promise<T | undefined>;
  /** The dialog that holds the active page up. */
  dialog(): OpenDialog | undefined;
  /**
   * What happened by itself since the last call, a sentence each, bounded: dialogs closed, tabs
   * opened, files downloaded (by their path in the workspace), requests refused and why, a crash, a
   * fresh context.
   */
  notices(): readonly string[];
}

/** A page after its scripts ran: where it came from in the end, and its document as HTML. */
export type RenderedPage = { readonly url: string; readonly html: string };

/**
 * What the browser is: started by us (`chromium`), or one that ran already, reached by DevTools or
 * a Playwright server.
 */
export type BrowserDescription = {
  readonly kind: "chromium" | "cdp" | "playwright";
  /** This and the rest are undefined until it was first started. */
  readonly version: string | undefined;
  /** What confines its pages, for people. */
  readonly sandbox: string | undefined;
  /** What the egress policy covers, for people. */
  readonly egress: string | undefined;
};

/**
 * The browser of this server: started for the first page, shared by the conversations, one context
 * for each.
 */
export interface Browsers {
  /**
   * The conversation's browsing; opened when there is none (the first time, after idle time, after
   * a crash).
   */
  open(workspace: Workspace, signal: AbortSignal): Promise<Browsing>;
  /** The conversation's browsing when it is open; starts nothing. */
  peek(workspace: Workspace): Browsing | undefined;
  /** Closes the conversation's browsing at once. */
  release(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

/** How a page is rendered. */
export type RenderOptions = ActOptions & { read?(page: Page): Promise<string> };

/** The browser as the server has it, which can do more than tools are given. */
export interface BrowserHost extends Browsers {
  /**
   * Loads a page as anybody would see it, in a context that is thrown away; its HTML is all of it,
   * or what `read` takes. Rejects as `Browsing.act` and `read` do, and with `too_large` for a
   * document of more than 10 million characters.
   */
  render(url: string, options: RenderOptions): Promise<RenderedPage>;
  describe(): BrowserDescription;
}
