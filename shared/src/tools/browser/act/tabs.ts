import * as z from "zod";
import type { Tool } from "../../../core/tools/tool.ts";
import { sameHosts } from "../../risk/same-kind.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { placeOf, shortUrl } from "./follow-up.ts";
import { pageAddress } from "./input.ts";
import { goTo } from "./navigate.ts";

/** Tabs: `browser_open_tab`, `browser_switch_tab`, `browser_close_tab`. */
export function tabTools(deps: BrowserDeps): Tool[] {
  const tabId = z.int().min(1);
  return [
    browserTool(deps, {
      name: "browser_open_tab",
      description: "Opens an address in a new tab.",
      input: z.strictObject({ url: pageAddress }),
      reach: { opens: ({ url }) => [url] },
      sameKind: ({ url }, risk) => sameHosts([url], risk),
      async run({ url }, call) {
        const { id } = await call.browsing.openTab();
        await call.browsing.activate(id);
        const gone = await goTo(call, url);
        return { ...gone, text: `Opened tab ${id}. ${gone.text}` };
      },
    }),
    browserTool(deps, {
      name: "browser_switch_tab",
      description: "Activates another open tab.",
      input: z.strictObject({ tab_id: tabId }),
      async run({ tab_id }, { browsing, looks }) {
        const { id, page } = await browsing.activate(tab_id);
        looks.restless = true;
        return `Tab ${id} is active now: ${shortUrl(page.url())}.`;
      },
    }),
    browserTool(deps, {
      name: "browser_close_tab",
      description: "Closes a tab; default: the active one.",
      input: z.strictObject({ tab_id: tabId.optional() }),
      async run({ tab_id }, { browsing, looks }) {
        const id = tab_id ?? browsing.active().id;
        await browsing.closeTab(id);
        looks.restless = true;
        const now = placeOf(browsing);
        return `Closed tab ${id}. Tab ${now.tab} is active now: ${shortUrl(now.url)}.`;
      },
    }),
  ];
}
