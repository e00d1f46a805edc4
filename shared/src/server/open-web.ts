import type { Config } from "../config/config.ts";
import type { Tool } from "../core/tool.ts";
import type { BrowserHost } from "../machine/browser/browser.ts";
import { createEgress, type Egress } from "../machine/egress/egress.ts";
import type { BrowserSearch } from "../tools/browser/act/web-search.ts";
import { createRobots } from "../tools/web/page/robots.ts";
import { openEngines } from "../tools/web/search/open-engines.ts";
import { searchAll } from "../tools/web/search/search-all.ts";
import { webFetch } from "../tools/web/web-fetch.ts";
import { webSearch } from "../tools/web/web-search.ts";

/** The way out of this machine as configured; undefined where the web is switched off. */
export function openEgress({ search, egress: settings }: Pick<Config, "search" | "egress">): Egress | undefined {
  const { proxy, ...policy } = settings;
  return search.enabled ? createEgress(policy, { proxy }) : undefined;
}

/** What reads the web without a browser. */
export type OpenedWeb = {
  /** `web_search` and `web_fetch`. */
  readonly tools: readonly Tool[];
  /** How a browser finds pages. */
  readonly search: BrowserSearch | undefined;
};

const found = 5;

/** The web tools as configured; none where there is no way out. `browser` shows pages that scripts make. */
export function openWeb(
  { search, egress: settings }: Pick<Config, "search" | "egress">,
  egress: Egress | undefined,
  browser?: BrowserHost,
): OpenedWeb {
  if (egress === undefined) return { tools: [], search: undefined };
  const page = { egress, robots: createRobots(egress), browser };
  const { lang, country } = search;
  const engines = openEngines(search, settings);
  return {
    tools: [webSearch({ ...page, engines, lang, country }), webFetch(page)],
    search: async (query, signal) => (await searchAll(engines, { query, count: found, lang, country }, signal)).found,
  };
}
