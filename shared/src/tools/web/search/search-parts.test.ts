import { expect, test } from "bun:test";
import type { EngineName, SearchEngine } from "./engine.ts";
import { countryName, languageOf, languageWithScript, localeOf } from "./locale.ts";
import { normalisedUrl } from "./normalised-url.ts";
import { type EngineSettings, openEngines } from "./open-engines.ts";
import { plainText } from "./plain-text.ts";
import { searchAll } from "./search-all.ts";

test.each([
  ["https://www.a.example/x/", "http://a.example/x"],
  ["https://m.a.example/x", "https://a.example/x#part"],
  ["https://a.example./x", "https://a.example/x"],
  ["https://a.example/x?b=2&a=1", "https://a.example/x?a=1&b=2"],
  ...["utm_source", "UTM_medium", "fbclid", "gclid", "msclkid", "mc_cid", "mc_eid", "srsltid", "ref_src"].map(
    (name) => [`https://a.example/x?${name}=1`, "https://a.example/x"] as const,
  ),
])("%s and %s are one page", (one, other) => {
  expect(normalisedUrl(one)).toBe(normalisedUrl(other));
  expect(normalisedUrl(one)).toBeDefined();
});

test.each([
  ["https://a.example/x", "https://a.example/y"],
  ["https://a.example/x?a=1", "https://a.example/x?a=2"],
  ["https://a.example/x?ref=1", "https://a.example/x"],
  ["https://a.example/x?my_utm_source=1", "https://a.example/x"],
  ["https://a.example:8443/x", "https://a.example/x"],
  ["https://wwww.a.example/x", "https://a.example/x"],
  ["https://a.www.example/x", "https://a.example/x"],
  ["https://a.example/X", "https://a.example/x"],
])("%s and %s are two pages", (one, other) => {
  expect(normalisedUrl(one)).not.toBe(normalisedUrl(other));
});

test.each(["ftp://a.example/", "javascript:alert(1)", "file:///etc", "a.example", ""])("%p is no page", (text) => {
  expect(normalisedUrl(text)).toBeUndefined();
});

const spoken = (lang: string, country: string) => ({ query: "q", count: 1, lang, country });

test.each([
  ["en", "us", "en", "en-US", "en"],
  ["DE-at", "ch", "de", "de-CH", "de"],
  ["pt_BR", "br", "pt", "pt-BR", "pt"],
  ["zh", "us", "zh", "zh-US", "zh-CN"],
  ["zh-Hant", "us", "zh", "zh-US", "zh-TW"],
  ["zh-HK", "us", "zh", "zh-US", "zh-TW"],
  ["zh-mo", "us", "zh", "zh-US", "zh-TW"],
  ["zh-TW", "us", "zh", "zh-US", "zh-TW"],
  ["zh", "TW", "zh", "zh-TW", "zh-TW"],
  ["zh", "hk", "zh", "zh-HK", "zh-TW"],
  ["zh", "mo", "zh", "zh-MO", "zh-TW"],
  ["zh-CN", "cn", "zh", "zh-CN", "zh-CN"],
])("%s in %s is %s, %s and, in its script, %s", (lang, country, language, locale, script) => {
  const query = spoken(lang, country);
  expect([languageOf(query), localeOf(query), languageWithScript(query)]).toEqual([language, locale, script]);
});

test("a country has its English name, and anything else has no name", () => {
  expect(countryName(spoken("de", "de"))).toBe("germany");
  for (const none of ["!!", "ZZ", "qy"]) expect(countryName(spoken("de", none))).toBeUndefined();
});

test.each([
  ["<b>Bees</b> &amp; <em class='x'>honey</em>", "Bees & honey"],
  ["&lt;b&gt; &quot;x&quot; &apos;y&apos;&nbsp;z", "<b> \"x\" 'y' z"],
  ["&#38; &#x26; &#X1F41D;", "& & 🐝"],
  ["&#0; &#1114112; &bogus; &AMP;", "&#0; &#1114112; &bogus; &"],
  ["&#1114111;", "\u{10ffff}"],
  ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
  ["  one\n\t two  ", "one two"],
])("the snippet %p reads %p", (snippet, text) => {
  expect(plainText(snippet)).toBe(text);
});

const none: EngineSettings = {
  fallback_engines: [],
  ...{ searxng: {}, brave: {}, tavily: {}, exa: {}, serper: {}, google_cse: {} },
  ...{ duckduckgo: {}, bing: {}, baidu: {}, google: {} },
};
const names = (settings: Partial<EngineSettings>) =>
  openEngines({ ...none, ...settings }, { allow: [], deny: [], only: [] }).map(({ name }) => name);
const open: readonly EngineName[] = ["duckduckgo", "bing", "baidu", "google"];

test("the configured engine is asked first, then its fallbacks, then the others, each once", () => {
  expect(names({})).toEqual([...open]);
  expect(names({ engine: "google", fallback_engines: ["baidu", "google"] })).toEqual([
    "google",
    "baidu",
    "duckduckgo",
    "bing",
  ]);
});

test.each<[Partial<EngineSettings>, readonly EngineName[]]>([
  [{ searxng: { url: "https://s.example" } }, ["searxng", ...open]],
  [{ brave: { api_key: "k" } }, ["brave", ...open]],
  [{ tavily: { api_key: "k" } }, ["tavily", ...open]],
  [{ exa: { api_key: "k" } }, ["exa", ...open]],
  [{ serper: { api_key: "k" } }, ["serper", ...open]],
  [{ google_cse: { api_key: "k", cx: "c" } }, ["google_cse", ...open]],
  [{ google_cse: { api_key: "k" } }, open],
  [{ google_cse: { cx: "c" } }, open],
  [{ brave: { url: "https://b.example" } }, open],
])("with the access %j the engines are %j", (settings, found) => {
  expect(names(settings)).toEqual([...found]);
});

const never = new AbortController().signal;
const gives = (name: EngineName, count: number): SearchEngine => ({
  name,
  search: async () =>
    Array.from({ length: count }, (_, n) => ({ title: "", url: `https://${name}.example/${n}`, description: "" })),
});

test.each([
  [3, ["brave", "brave", "brave"]],
  [2, ["brave", "brave", "bing"]],
  [4, ["brave", "brave", "brave"]],
])("with %d pages of the first engine the next is asked only if there are too few", async (count, sources) => {
  const asked: string[] = [];
  const engines = [gives("brave", count), gives("bing", 2)].map((engine) => ({
    ...engine,
    search: (...args: Parameters<SearchEngine["search"]>) => {
      asked.push(engine.name);
      return engine.search(...args);
    },
  }));
  const { found, failures } = await searchAll(engines, { ...spoken("en", "us"), count: 3 }, never);
  expect(found.map(({ source }) => source)).toEqual(sources as EngineName[]);
  expect([asked.length, failures]).toEqual([count < 3 ? 2 : 1, []]);
});
