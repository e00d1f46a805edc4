import type { Observation, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Browsing } from "../../machine/browser/browser.ts";
import type { BrowserSettings } from "../../machine/browser-process/settings.ts";
import type { BrowserSearch } from "../../tools/browser/act/web-search.ts";
import { browserTools } from "../../tools/browser/browser-tools.ts";
import { createSnapshotStates } from "../../tools/observation/elements/snapshot-state.ts";
import { observe } from "../../tools/observation/observe.ts";
import { contextForTest } from "../tool-context.ts";
import { type Handler, startSite } from "../web/site.ts";
import { browsersForTest } from "./browsers.ts";

/** A conversation with a separate browser and site. Ends with `await using`. For tests. */
export type Desk = AsyncDisposable & {
  readonly url: string;
  readonly workspace: Workspace;
  browsing(): Browsing;
  /** Calls `browser_<name>`. */
  call(name: string, input?: Record<string, unknown>): Promise<ToolResult>;
  /** Opens a page of the site and returns its snapshot. */
  open(path: string): Promise<string>;
  /** The whole page. */
  see(options?: { readonly vision?: boolean; readonly tokens?: number }): Promise<Observation>;
  /** What has changed since an observation. */
  seeSince(mark: string | undefined, options?: { readonly vision?: boolean }): Promise<Observation | undefined>;
};

/**
 * Starts a desk; `pages` are HTML by path, or a handler for one; `search` is what
 * `browser_web_search` finds.
 */
export async function startDesk(
  pages: Readonly<Record<string, string | Handler>>,
  changes: Partial<BrowserSettings> = {},
  search?: BrowserSearch,
): Promise<Desk> {
  const html = (body: string) => () => new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
  const answers = Object.entries(pages).map(([path, page]) => [path, typeof page === "string" ? html(page) : page]);
  const site = startSite(Object.fromEntries(answers));
  const lab = await browsersForTest([site.host], changes);
  const workspace = await lab.workspace("desk");
  const looks = createSnapshotStates();
  const tools = browserTools({ browsers: lab.browsers, looks, search });
  const context = contextForTest(workspace);
  const browsing = () => {
    const open = lab.browsers.peek(workspace);
    if (open === undefined) throw new Error("nothing is open");
    return open;
  };
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const tool = tools.find((one) => one.name === `browser_${name}`);
    if (tool === undefined) throw new Error(`no tool browser_${name}`);
    return await tool.call(input, context);
  };
  const seeSince: Desk["seeSince"] = (since, { vision = false } = {}) =>
    observe(browsing(), { looks, vision, since, signal: context.signal });
  const see: Desk["see"] = async ({ vision = false, ...options } = {}) => {
    const seen = await observe(browsing(), { ...options, looks, vision, signal: context.signal });
    if (seen === undefined) throw new Error("nothing was seen");
    return seen;
  };
  return {
    url: site.url,
    workspace,
    browsing,
    call,
    see,
    seeSince,
    async open(path) {
      const { text, isError } = await call("go_to_url", { url: `${site.url}${path}` });
      if (isError) throw new Error(text);
      return (await see()).text;
    },
    async [Symbol.asyncDispose]() {
      await lab[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** The ref after some words of a snapshot (or, on a line that begins with a text, around them). */
export function refOf(text: string, words: string): string {
  const line = text.split("\n").find((one) => one.includes(words));
  if (line === undefined) throw new Error(`${words} is not in:\n${text}`);
  const at = line.indexOf(words);
  const behind = /\[(e\d+)\]/.exec(line.slice(at))?.[1];
  const before = [...line.slice(0, at).matchAll(/\[(e\d+)\]/g)].at(-1)?.[1];
  const ref = behind ?? before;
  if (ref === undefined) throw new Error(`there is no ref in ${line}`);
  return ref;
}
