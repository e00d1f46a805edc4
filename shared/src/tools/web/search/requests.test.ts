import { expect, test } from "bun:test";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { EgressRequest } from "../../../machine/egress/fetch-within.ts";
import { askForText } from "./ask-engine.ts";
import type { SearchEngine } from "./engine.ts";
import { htmlEngine } from "./html-engines.ts";
import { brave, exa, googleCse, searxng, serper, tavily } from "./json-engines.ts";

/** An egress where everything answers with this; `asked` are the requests. */
function answering(text: string, status = 200, type = "application/json") {
  const asked: EgressRequest[] = [];
  const egress: Egress = {
    async fetch(request) {
      asked.push(request);
      return { url: new URL(request.url), status, headers: { "content-type": type }, body: Buffer.from(text) };
    },
  };
  return { egress, asked };
}
const { signal } = new AbortController();
const query = { query: "bees", count: 50, lang: "ja", country: "jp" };
const key = "k";

test.each<[string, (egress: Egress) => SearchEngine, string]>([
  [
    "searxng",
    (egress) => searxng({ egress, url: "https://s.example/search/" }),
    "https://s.example/search?q=bees&format=json&language=ja-JP",
  ],
  [
    "brave",
    (egress) => brave({ egress, key }),
    "https://api.search.brave.com/res/v1/web/search?q=bees&count=20&country=JP&search_lang=jp",
  ],
  [
    "tavily",
    (egress) => tavily({ egress, key }),
    'https://api.tavily.com/search {"query":"bees","max_results":50,"country":"japan"}',
  ],
  [
    "exa",
    (egress) => exa({ egress, key }),
    'https://api.exa.ai/search {"query":"bees","numResults":50,"userLocation":"JP","contents":{"text":{"maxCharacters":300}}}',
  ],
  [
    "serper",
    (egress) => serper({ egress, key }),
    'https://google.serper.dev/search {"q":"bees","num":50,"gl":"jp","hl":"ja"}',
  ],
  [
    "google_cse",
    (egress) => googleCse({ egress, key, cx: "c" }),
    "https://www.googleapis.com/customsearch/v1?key=k&cx=c&q=bees&num=10&gl=jp&hl=ja&lr=lang_ja",
  ],
  ["duckduckgo", (egress) => htmlEngine("duckduckgo", { egress }), "https://html.duckduckgo.com/html/?q=bees&kl=jp-ja"],
  [
    "bing",
    (egress) => htmlEngine("bing", { egress }),
    "https://www.bing.com/search?q=bees&count=50&setlang=ja&cc=JP&mkt=ja-JP",
  ],
  ["baidu", (egress) => htmlEngine("baidu", { egress }), "https://www.baidu.com/s?wd=bees&rn=50&ie=utf-8"],
  ["google", (egress) => htmlEngine("google", { egress }), "https://www.google.com/search?q=bees&num=50&hl=ja&gl=jp"],
])("%s is asked at its own address, under this system's name, in time and to a size", async (name, open, expected) => {
  const { egress, asked } = answering('{"results":[],"organic":null}');
  expect(await open(egress).search(query, signal)).toEqual([]);
  const [request] = asked;
  expect([request?.url, request?.body].filter((part) => part !== undefined).join(" ")).toBe(expected);
  expect(request).toMatchObject({ timeoutMs: 8_000, maxBytes: 4_000_000 });
  expect(request?.signal).toBe(signal);
  expect(request?.headers?.["user-agent"]).toMatch(/Manyhands/);
  expect(request?.headers?.["content-type"]).toBe(request?.body === undefined ? undefined : "application/json");
  const isPage = ["duckduckgo", "bing", "baidu", "google"].includes(name);
  expect(request?.headers?.accept).toBe(isPage ? "text/html" : "application/json");
  expect(request?.headers?.["accept-language"]).toBe(isPage ? "ja-JP,ja;q=0.8" : undefined);
});

test("a hit without a title or a description is a hit with empty ones", async () => {
  const url = "https://bees.example/";
  const empty = { title: "", url, description: "" };
  const answers = {
    searxng: { results: [{ url, title: null }] },
    brave: { web: { results: [{ url, description: null }] } },
    tavily: { results: [{ url, content: null }] },
    exa: { results: [{ url, title: null }] },
    serper: { organic: [{ link: url }] },
    google_cse: { items: [{ link: url, snippet: null }] },
  };
  const opened: Readonly<Record<keyof typeof answers, (egress: Egress) => SearchEngine>> = {
    searxng: (egress) => searxng({ egress, url: "https://s.example" }),
    brave: (egress) => brave({ egress, key }),
    tavily: (egress) => tavily({ egress, key }),
    exa: (egress) => exa({ egress, key }),
    serper: (egress) => serper({ egress, key }),
    google_cse: (egress) => googleCse({ egress, key, cx: "c" }),
  };
  for (const [name, open] of Object.entries(opened)) {
    const { egress } = answering(JSON.stringify(answers[name as keyof typeof answers]));
    expect([name, await open(egress).search(query, signal)]).toEqual([name, [empty]]);
  }
});

test.each([
  [429, "rate_limited", "asked too often (status 429)"],
  [401, "unavailable", "refused (status 401); is its key right?"],
  [403, "unavailable", "refused (status 403); is its key right?"],
  [301, "unavailable", "failed with status 301"],
  [500, "unavailable", "failed with status 500"],
])("an engine that answers %d fails as %s", async (status, code, message) => {
  const { egress } = answering("", status);
  await expect(askForText(egress, { url: "https://e.example", signal })).rejects.toMatchObject({ code, message });
});

test("an answer is decoded as its header says", async () => {
  const { egress } = answering("x", 299, "text/html; charset=utf-16le");
  expect(await askForText(egress, { url: "https://e.example", signal })).not.toBe("x");
});

test.each([
  ["duckduckgo", '<div class="result"><a class="result__a" href="/l/?uddg=javascript:alert(1)">Bad</a></div>'],
  ["google", '<a href="/url?q=javascript:alert(1)"><h3>Bad</h3></a><a href="https://a.example/"><h3> </h3></a>'],
  ["bing", '<li class="b_algo"><h2><a href="https://www.bing.com/ck/a?p=0">No address</a></h2></li>'],
] as const)("a hit of %s whose address is not an http(s) URL is left out", async (name, page) => {
  const hits = await htmlEngine(name, answering(page, 200, "text/html")).search(query, signal);
  expect(hits.filter(({ url }) => !url.startsWith("https://www.bing.com/ck/"))).toEqual([]);
});
