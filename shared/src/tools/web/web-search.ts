import * as z from "zod";
import { messageOf } from "../../core/errors.ts";
import { openWeb } from "../../core/taken-in.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { asData, headAndTail } from "../page/as-data.ts";
import { type PageDeps, readPage } from "./read-page.ts";
import type { SearchEngine, SearchQuery } from "./search/engine.ts";
import { type FoundHit, type SearchOutcome, searchAll } from "./search/search-all.ts";

const description = "Searches the web: titles, addresses, short descriptions. Read a page with web_fetch.";

/** What the tool needs; `lang` and `country` apply to calls that give none. */
export type WebSearchDeps = PageDeps & {
  readonly engines: readonly SearchEngine[];
  readonly lang: string;
  readonly country: string;
};

/** The `web_search` tool over the engines given, in their order. */
export function webSearch(deps: WebSearchDeps): Tool {
  const asks = ({ query, lang }: { readonly query: string; readonly lang: string }) =>
    lang === deps.lang || usualLanguage.test(lang) ? query : `${query} ${lang}`;
  return defineTool({
    name: "web_search",
    description,
    input: inputWith(deps.lang, deps.country),
    effect: "pure",
    brings: [openWeb],
    reach: { asks, writes: asks, finds: true },
    async run({ query, num_results, lang, country, fetch_content }, { signal }) {
      const asked: SearchQuery = { query, count: num_results, lang, country };
      const outcome = await searchAll(deps.engines, asked, signal);
      const { found } = outcome;
      if (found.length === 0)
        return {
          text: [`No search engine gave results for '${query}'.`, ...failuresOf(outcome)].join("\n"),
          isError: true,
        };
      const contents = fetch_content ? await contentsOf(found, deps, signal) : [];
      const results = found.map((one, index) => resultText(one, index + 1, contents[index]));
      const about = [`- Total results: ${found.length}`, `- Language: ${lang}`, `- Country: ${country}`];
      return [
        `Search results for '${query}':`,
        asData("search results", results.join("\n\n")),
        ["Metadata:", ...about, ...failuresOf(outcome)].join("\n"),
      ].join("\n\n");
    },
  });
}

/** A search language in its usual short form, which cannot carry other data. */
const usualLanguage = /^[a-z]{2,3}(?:[-_][a-z]{2,4})?$/i;

function inputWith(lang: string, country: string) {
  return z.strictObject({
    query: z.string().trim().min(1).max(1000),
    num_results: z.int().min(1).max(20).default(5).describe("Default 5, at most 20."),
    lang: z
      .string()
      .regex(/^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/i, 'A language is written like "en" or "zh-CN"')
      .default(lang),
    country: z
      .string()
      .regex(/^[a-z]{2}$/i, 'A country is two letters, such as "us"')
      .default(country),
    fetch_content: z.boolean().default(false).describe("Also reads the start of each page."),
  });
}

function resultText({ title, url, description, source }: FoundHit, position: number, content?: string): string {
  const lines = [`${position}. ${title}`, `   URL: ${url}`, `   Source: ${source}`];
  if (description !== "") lines.push(`   Description: ${headAndTail(description, 500)}`);
  if (content !== undefined) lines.push(`   Content:\n${content}`);
  return lines.join("\n");
}

function failuresOf({ failures }: SearchOutcome): string[] {
  if (failures.length === 0) return [];
  return [`- Without results: ${failures.map(({ engine, reason }) => `${engine} (${reason})`).join("; ")}`];
}

const contentMs = 10_000;
/** In total, the contents stay below the length at which a result is cut. */
const allContents = 8_000;

async function contentsOf(found: readonly FoundHit[], deps: PageDeps, signal: AbortSignal): Promise<string[]> {
  const share = Math.floor(allContents / found.length);
  return Promise.all(
    found.map(async ({ url }) => {
      try {
        const { text } = await readPage(url, deps, { timeoutMs: contentMs, signal });
        return text.length > share ? `${text.slice(0, share)}…` : text;
      } catch (error) {
        signal.throwIfAborted();
        return `(could not be read: ${messageOf(error)})`;
      }
    }),
  );
}
