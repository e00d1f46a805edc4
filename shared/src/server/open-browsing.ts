import type { Config } from "../config/config.ts";
import type { Tool } from "../core/tool.ts";
import type { Browsers } from "../machine/browser/browser.ts";
import { browserTools } from "../tools/browser/browser-tools.ts";
import { extractContent } from "../tools/browser/extract/extract-content.ts";
import { createLookBook } from "../tools/browser/looks.ts";
import { sightOf } from "../tools/browser/observe/sight.ts";
import type { Look, OpenedBrowsing } from "../tools/family.ts";
import { createGuard } from "../tools/risk/guard.ts";
import type { OpenedWeb } from "./open-web.ts";

/** The browser's tools and the web's, all under one guard, and that guard for tools that send others there. */
export function openBrowsing(
  browsers: Browsers | undefined,
  missing: string | undefined,
  web: OpenedWeb,
  { scope, trusted_hosts, max_content_length }: Config["browser"],
): { readonly web: readonly Tool[]; readonly browsing: OpenedBrowsing; guarded(tool: Tool): Tool } {
  const looks = createLookBook();
  const guard = createGuard({ browsers, looks, scope, trusted: trusted_hosts });
  const guarded = (tool: Tool) => guard.over(tool);
  const reading = web.tools.map(guarded);
  if (browsers === undefined)
    return {
      web: reading,
      browsing: { tools: [], look: undefined, missing: missing ?? "There is no browser." },
      guarded,
    };
  const tools = [
    ...browserTools({ browsers, looks, search: web.search }),
    extractContent({ browsers, pieceCharacters: max_content_length }),
  ];
  const look: Look = async (workspace, { signal, vision }) => {
    const browsing = browsers.peek(workspace);
    if (browsing === undefined) return { text: "No page is open in the browser." };
    await guard.beforeSight(workspace);
    return sightOf(browsing, { looks, vision, signal });
  };
  return { web: reading, browsing: { tools: tools.map(guarded), look, missing: undefined }, guarded };
}
