import type { BrowserHost } from "../browser/browser.ts";
import type { Config } from "../config/config.ts";
import { createEgress } from "../egress/egress.ts";
import type { Tool } from "../tools/tool.ts";
import { createRobots } from "../tools/web/page/robots.ts";
import { openEngines } from "../tools/web/search/open-engines.ts";
import { webFetch } from "../tools/web/web-fetch.ts";
import { webSearch } from "../tools/web/web-search.ts";

/** `web_search` and `web_fetch` as configured; none where the web is switched off. `browser` shows pages that scripts make. */
export function openWeb(
  { search, egress: settings }: Pick<Config, "search" | "egress">,
  browser?: BrowserHost,
): readonly Tool[] {
  if (!search.enabled) return [];
  const { proxy, ...policy } = settings;
  const egress = createEgress(policy, { proxy });
  const page = { egress, robots: createRobots(egress), browser };
  const { lang, country } = search;
  return [webSearch({ ...page, engines: openEngines(search, settings), lang, country }), webFetch(page)];
}
