import type { Config } from "../config/config.ts";
import { createEgress, type Egress } from "../egress/egress.ts";
import type { Tool } from "../tools/tool.ts";
import { createRobots } from "../tools/web/page/robots.ts";
import { openEngines } from "../tools/web/search/open-engines.ts";
import { webFetch } from "../tools/web/web-fetch.ts";
import { webSearch } from "../tools/web/web-search.ts";

/** The way out of this machine as configured; undefined where the web is switched off. */
export function openEgress({ search, egress: settings }: Pick<Config, "search" | "egress">): Egress | undefined {
  const { proxy, ...policy } = settings;
  return search.enabled ? createEgress(policy, { proxy }) : undefined;
}

/** `web_search` and `web_fetch` as configured. */
export function openWeb(
  { search, egress: settings }: Pick<Config, "search" | "egress">,
  egress: Egress,
): readonly Tool[] {
  const page = { egress, robots: createRobots(egress) };
  const { lang, country } = search;
  return [webSearch({ ...page, engines: openEngines(search, settings), lang, country }), webFetch(page)];
}
