import * as z from "zod";
import type { Egress } from "../../../machine/egress/egress.ts";
import { askForJson } from "./ask-engine.ts";
import type { Hit, SearchEngine } from "./engine.ts";
import { countryName, languageOf, languageWithScript, localeOf } from "./locale.ts";
import { plainText } from "./plain-text.ts";

/** How to reach an engine with a key. `url` overrides its address. */
type Keyed = { readonly egress: Egress; readonly key: string; readonly url?: string | undefined };

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
/**
 * The hits in a list, without those in another form (an answer, a file, a map) as long as there are
 * any in this one.
 */
const listOf = <Shape extends z.ZodType>(hit: Shape) =>
  z.array(z.unknown()).transform((items, context): z.output<Shape>[] => {
    const hits = items.map((item) => hit.safeParse(item)).flatMap((read) => (read.success ? [read.data] : []));
    if (items.length > 0 && hits.length === 0) context.addIssue("none of them is a hit");
    return hits;
  });
const hitsOf = (found: readonly { title: string; url: string; description: string }[]): Hit[] =>
  found.map(({ title, url, description }) => ({ title: plainText(title), url, description: plainText(description) }));

/** SearXNG at `url`, with its JSON format enabled. */
export function searxng({ egress, url }: { readonly egress: Egress; readonly url: string }): SearchEngine {
  const shape = z.looseObject({ results: listOf(z.looseObject({ title: text, url: z.string(), content: text })) });
  return {
    name: "searxng",
    async search(query, signal) {
      const address = `${url.replace(/\/(?:search)?\/*$/, "")}/search`;
      const asked = { q: query.query, format: "json", language: localeOf(query) };
      const { results } = await askForJson(egress, { url: address, query: asked, signal }, shape);
      return hitsOf(results.map(({ title, url, content }) => ({ title, url, description: content })));
    },
  };
}

/** Brave's Web Search API. */
export function brave({ egress, key, url = "https://api.search.brave.com/res/v1/web/search" }: Keyed): SearchEngine {
  const hit = z.looseObject({ title: text, url: z.string(), description: text });
  const shape = z.looseObject({ web: z.looseObject({ results: listOf(hit) }).nullish() });
  const languages: Readonly<Record<string, string>> = { "zh-CN": "zh-hans", "zh-TW": "zh-hant", ja: "jp", pt: "pt-br" };
  return {
    name: "brave",
    async search(query, signal) {
      const lang = languageWithScript(query);
      const asked = {
        q: query.query,
        count: String(Math.min(query.count, 20)),
        country: query.country.toUpperCase(),
        search_lang: languages[lang] ?? lang,
      };
      const headers = { "x-subscription-token": key };
      const { web } = await askForJson(egress, { url, query: asked, headers, signal }, shape);
      return hitsOf(web?.results ?? []);
    },
  };
}

/** Tavily's search. It has no language parameter. */
export function tavily({ egress, key, url = "https://api.tavily.com/search" }: Keyed): SearchEngine {
  const shape = z.looseObject({ results: listOf(z.looseObject({ title: text, url: z.string(), content: text })) });
  return {
    name: "tavily",
    async search(query, signal) {
      const json = { query: query.query, max_results: query.count, country: countryName(query) };
      const headers = { authorization: `Bearer ${key}` };
      const { results } = await askForJson(egress, { url, json, headers, signal }, shape);
      return hitsOf(results.map(({ title, url, content }) => ({ title, url, description: content })));
    },
  };
}

/** Exa's search. It has no language parameter. */
export function exa({ egress, key, url = "https://api.exa.ai/search" }: Keyed): SearchEngine {
  const shape = z.looseObject({ results: listOf(z.looseObject({ title: text, url: z.string(), text })) });
  return {
    name: "exa",
    async search(query, signal) {
      const json = {
        query: query.query,
        numResults: query.count,
        userLocation: query.country.toUpperCase(),
        contents: { text: { maxCharacters: 300 } },
      };
      const { results } = await askForJson(egress, { url, json, headers: { "x-api-key": key }, signal }, shape);
      return hitsOf(results.map(({ title, url, text }) => ({ title, url, description: text })));
    },
  };
}

/** Serper, which queries Google. */
export function serper({ egress, key, url = "https://google.serper.dev/search" }: Keyed): SearchEngine {
  const hit = z.looseObject({ title: text, link: z.string(), snippet: text });
  const shape = z.looseObject({ organic: listOf(hit).nullish() });
  return {
    name: "serper",
    async search(query, signal) {
      const json = {
        q: query.query,
        num: query.count,
        gl: query.country.toLowerCase(),
        hl: languageWithScript(query).toLowerCase(),
      };
      const { organic } = await askForJson(egress, { url, json, headers: { "x-api-key": key }, signal }, shape);
      return hitsOf((organic ?? []).map(({ title, link, snippet }) => ({ title, url: link, description: snippet })));
    },
  };
}

/** Google's Custom Search JSON API: a key, and `cx`, the engine's id. */
export function googleCse({
  egress,
  key,
  cx,
  url = "https://www.googleapis.com/customsearch/v1",
}: Keyed & { readonly cx: string }): SearchEngine {
  const hit = z.looseObject({ title: text, link: z.string(), snippet: text });
  const shape = z.looseObject({ items: listOf(hit).nullish() });
  return {
    name: "google_cse",
    async search(query, signal) {
      const asked = {
        key,
        cx,
        q: query.query,
        num: String(Math.min(query.count, 10)),
        gl: query.country.toLowerCase(),
        hl: languageOf(query),
        lr: `lang_${languageWithScript(query)}`,
      };
      const { items } = await askForJson(egress, { url, query: asked, signal }, shape);
      return hitsOf((items ?? []).map(({ title, link, snippet }) => ({ title, url: link, description: snippet })));
    },
  };
}
