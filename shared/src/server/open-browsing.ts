import type { Config } from "../config/config.ts";
import type { Tool } from "../core/tool.ts";
import type { Browsers } from "../machine/browser/browser.ts";
import type { BrowserSearch } from "../tools/browser/act/web-search.ts";
import { browserTools } from "../tools/browser/browser-tools.ts";
import { extractContent } from "../tools/browser/extract/extract-content.ts";
import { createLookBook } from "../tools/browser/looks.ts";
import { sightOf } from "../tools/browser/observe/sight.ts";
import type { Look, OpenedBrowsing } from "../tools/family.ts";
import { createGuard } from "../tools/risk/guard.ts";

/** The browser's tools, and the guard over every tool that reaches outside or works on its pages. */
export function openBrowsing(
  browsers: Browsers | undefined,
  missing: string | undefined,
  search: BrowserSearch | undefined,
  { scope, trusted_hosts, max_content_length }: Config["browser"],
): { readonly browsing: OpenedBrowsing; guarded(tool: Tool): Tool } {
  const looks = createLookBook();
  const guard = createGuard({ browsers, looks, scope, trusted: trusted_hosts });
  const guarded = (tool: Tool) => guard.over(tool);
  if (browsers === undefined)
    return {
      browsing: { tools: [], look: undefined, missing: missing ?? "There is no browser." },
      guarded,
    };
  const tools = [
    ...browserTools({ browsers, looks, search }),
    extractContent({ browsers, pieceCharacters: max_content_length }),
  ];
  const look: Look = async (workspace, { signal, vision }) => {
    const browsing = browsers.peek(workspace);
    if (browsing === undefined) return { text: "No page is open in the browser." };
    await guard.beforeSight(workspace);
    return sightOf(browsing, { looks, vision, signal });
  };
  return { browsing: { tools, look, missing: undefined }, guarded };
}
