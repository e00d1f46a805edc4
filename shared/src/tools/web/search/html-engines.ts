import { AppError } from "../../../core/errors.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import { askForText } from "./ask-engine.ts";
import type { EngineName, Hit, SearchEngine, SearchQuery } from "./engine.ts";
import { languageOf, languageWithScript, localeOf } from "./locale.ts";
import { plainText } from "./plain-text.ts";

/** The parts of a parsed page that are read here. */
interface PageElement {
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  closest(selector: string): PageElement | null;
}

/** An engine that is read from its page for people. */
type PageEngine = {
  readonly name: EngineName;
  readonly url: string;
  query(query: SearchQuery): Readonly<Record<string, string>>;
  /** The hits among the page's elements; the caller leaves out those without a usable address. */
  hits(document: PageElement): (Hit | undefined)[];
  /** Matches only a page that asks for proof of being human. */
  readonly challenge: RegExp;
};

const duckduckgo: PageEngine = {
  name: "duckduckgo",
  url: "https://html.duckduckgo.com/html/",
  query: (query) => ({ q: query.query, kl: `${query.country.toLowerCase()}-${languageOf(query)}` }),
  hits: (document) =>
    [...document.querySelectorAll(".result:not(.result--ad)")].map((box) =>
      hitOf(box.querySelector("a.result__a"), box.querySelector(".result__snippet"), (href) => parameter(href, "uddg")),
    ),
  challenge: /anomaly-modal|bots use DuckDuckGo too/i,
};

const bing: PageEngine = {
  name: "bing",
  url: "https://www.bing.com/search",
  query: (query) => ({
    q: query.query,
    count: String(query.count),
    setlang: languageWithScript(query),
    cc: query.country.toUpperCase(),
    mkt: localeOf(query),
  }),
  hits: (document) =>
    [...document.querySelectorAll("li.b_algo")].map((box) =>
      hitOf(box.querySelector("h2 a"), box.querySelector(".b_caption p, p"), unwrapBing),
    ),
  challenge: /id="b_captcha|challenges\.cloudflare\.com|One last step/i,
};

const baidu: PageEngine = {
  name: "baidu",
  url: "https://www.baidu.com/s",
  query: (query) => ({ wd: query.query, rn: String(Math.max(query.count, 10)), ie: "utf-8" }),
  hits: (document) =>
    [...document.querySelectorAll("div.c-container")].map((box) => {
      const snippet = box.querySelector(".c-abstract, [class*='content-right'], [class*='summary-text']");
      return hitOf(box.querySelector("h3 a"), snippet, (href) => box.getAttribute("mu") ?? href);
    }),
  challenge: /wappass\.baidu\.com|百度安全验证/,
};

const google: PageEngine = {
  name: "google",
  url: "https://www.google.com/search",
  query: (query) => ({
    q: query.query,
    num: String(query.count),
    hl: languageWithScript(query),
    gl: query.country.toLowerCase(),
  }),
  hits: (document) =>
    [...document.querySelectorAll("a")]
      .filter((link) => link.querySelector("h3") !== null)
      .map((link) => {
        const box = link.closest("div.g, div.MjjYud, div.Gx5Zad");
        const snippet = box?.querySelector(".VwiC3b, .BNeawe.s3v9rd, [data-sncf]") ?? null;
        return hitOf(link, snippet, (href) => parameter(href, "q"), link.querySelector("h3"));
      }),
  challenge: /\/sorry\/|unusual traffic|enablejs|consent\.google\.com/i,
};

const pageEngines = { duckduckgo, bing, baidu, google } as const;

/** An engine without a key. `url` overrides its address. */
export function htmlEngine(
  name: keyof typeof pageEngines,
  { egress, url }: { readonly egress: Egress; readonly url?: string | undefined },
): SearchEngine {
  const engine: PageEngine = pageEngines[name];
  return {
    name,
    async search(query, signal) {
      const headers = { accept: "text/html", "accept-language": `${localeOf(query)},${languageOf(query)};q=0.8` };
      const asked = { url: url ?? engine.url, query: engine.query(query), headers, signal };
      const answer = await askForText(egress, asked);
      const [{ beginningOf }, { parseHTML }] = await Promise.all([
        import("../../page/beginning-of.ts"),
        import("linkedom"),
      ]);
      const page = beginningOf(answer);
      const { document } = parseHTML(/<html[\s>]/i.test(page) ? page : `<html><body>${page}</body></html>`);
      const hits = engine.hits(document).filter((hit): hit is Hit => hit !== undefined);
      if (hits.length === 0 && engine.challenge.test(page))
        throw new AppError("unavailable", "asked for proof that a human is asking");
      return hits;
    },
  };
}

function hitOf(
  link: PageElement | null,
  snippet: PageElement | null,
  unwrap: (href: string) => string | undefined,
  heading: PageElement | null = link,
): Hit | undefined {
  const href = link?.getAttribute("href") ?? "";
  const url = unwrap(href) ?? href;
  const title = plainText(heading?.textContent ?? "");
  if (title === "" || !/^https?:\/\//i.test(url)) return undefined;
  return { title, url, description: plainText(snippet?.textContent ?? "") };
}

/** The address inside a link that counts clicks; undefined when there is none. */
function parameter(href: string, name: string): string | undefined {
  const target = URL.parse(href, "https://engine.invalid/")?.searchParams.get(name);
  return target !== null && target !== undefined && /^https?:/i.test(target) ? target : undefined;
}

/** Bing's links contain the address as Base64 after two letters. */
function unwrapBing(href: string): string | undefined {
  const wrapped = /\/ck\/a\b/.test(href) ? URL.parse(href, "https://www.bing.com/")?.searchParams.get("u") : undefined;
  if (wrapped === null || wrapped === undefined) return undefined;
  return Buffer.from(wrapped.slice(2), "base64url").toString();
}
