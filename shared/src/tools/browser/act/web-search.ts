import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { asData } from "../../page/as-data.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { goTo } from "./navigate.ts";

/** Finds pages for a query, best first; rejects when there are none. */
export type BrowserSearch = (
  query: string,
  signal: AbortSignal,
) => Promise<readonly { readonly title: string; readonly url: string; readonly description: string }[]>;

/** `browser_web_search`: searches and opens the first result. */
export function webSearchTool(deps: BrowserDeps, search: BrowserSearch): Tool {
  return browserTool(deps, {
    name: "browser_web_search",
    description: "Searches the web, opens the first result and lists the others.",
    input: z.strictObject({ query: z.string().trim().min(1).max(1_000) }),
    reach: { asks: ({ query }) => query, writes: ({ query }) => query, finds: true },
    async run({ query }, call) {
      const found = await search(query, call.context.signal);
      const [first] = found;
      if (first === undefined) throw new AppError("not_found", `No search engine gave results for '${query}'.`);
      const list = found
        .map(({ title, url, description }) => `- ${title}\n  ${url}\n  ${description.slice(0, 200)}`)
        .join("\n");
      return `${(await goTo(call, first.url)).text}\n${asData("search results", list)}`;
    },
  });
}
