import { expect, test } from "bun:test";
import { type Handler, served, startSite } from "../../../testing/web/site.ts";
import type { EngineName, SearchQuery } from "./engine.ts";
import { type EgressSettings, type EngineSettings, openEngines } from "./open-engines.ts";

const asked: SearchQuery = { query: "bees & honey ü", count: 3, lang: "en", country: "us" };
const first = { title: "Bees & Honey", url: "https://bees.example/a?x=1&y=2", description: "All about bees." };
const second = { title: "Honey", url: "https://honey.example/", description: "Sweet & golden." };
const json = (body: unknown) => JSON.stringify(body);
const target = encodeURIComponent(first.url);
const packed = Buffer.from(first.url).toString("base64url");

type Recorded = { readonly params: Record<string, string>; readonly headers: Headers; readonly body: unknown };

/** Each engine's response in its own format, and the request it must receive. */
const cases: Readonly<Record<EngineName, { answer: string; asks(request: Recorded): void }>> = {
  searxng: {
    answer: json({
      query: asked.query,
      number_of_results: 0,
      results: [
        {
          url: first.url,
          title: "Bees & Honey",
          content: "All about bees.",
          engine: "brave",
          score: 1.2,
          category: "general",
        },
        // What is no page has no address: a computed answer, a torrent.
        { title: "A unit", content: "1 lb = 453 g", engine: "unit_converter" },
        { url: null, title: "Honey", magnetlink: "magnet:?xt=1", engine: "torrents" },
        { url: second.url, title: "Honey", content: "Sweet & golden.", engine: "qwant", publishedDate: null },
      ],
      answers: [],
      suggestions: [],
      unresponsive_engines: [],
    }),
    asks: ({ params }) => expect(params).toEqual({ q: asked.query, format: "json", language: "en-US" }),
  },
  brave: {
    answer: json({
      type: "search",
      query: { original: asked.query },
      web: {
        type: "search",
        results: [
          {
            title: "<strong>Bees</strong> &amp; Honey",
            url: first.url,
            description: "All about <strong>bees</strong>.",
            age: "x",
          },
          { title: "Honey", url: second.url, description: "Sweet &#38; golden." },
        ],
      },
    }),
    asks({ params, headers }) {
      expect(params).toEqual({ q: asked.query, count: "3", country: "US", search_lang: "en" });
      expect(headers.get("x-subscription-token")).toBe("key-of-brave");
    },
  },
  tavily: {
    answer: json({
      query: asked.query,
      answer: null,
      results: [
        { title: first.title, url: first.url, content: first.description, score: 0.98, raw_content: null },
        { title: second.title, url: second.url, content: second.description, score: 0.9, raw_content: null },
      ],
      response_time: 0.7,
    }),
    asks({ body, headers }) {
      expect(body).toEqual({ query: asked.query, max_results: 3, country: "united states" });
      expect(headers.get("authorization")).toBe("Bearer key-of-tavily");
    },
  },
  exa: {
    answer: json({
      requestId: "r",
      results: [
        {
          id: first.url,
          title: first.title,
          url: first.url,
          author: null,
          publishedDate: "2026-01-01",
          text: "All about\nbees.",
        },
        { id: second.url, title: second.title, url: second.url, text: second.description },
      ],
    }),
    asks({ body, headers }) {
      expect(body).toMatchObject({ query: asked.query, numResults: 3, userLocation: "US" });
      expect(headers.get("x-api-key")).toBe("key-of-exa");
    },
  },
  serper: {
    answer: json({
      searchParameters: { q: asked.query, type: "search" },
      organic: [
        { title: first.title, link: first.url, snippet: first.description, position: 1 },
        { title: second.title, link: second.url, snippet: second.description, position: 2 },
      ],
      credits: 1,
    }),
    asks({ body, headers }) {
      expect(body).toEqual({ q: asked.query, num: 3, gl: "us", hl: "en" });
      expect(headers.get("x-api-key")).toBe("key-of-serper");
    },
  },
  google_cse: {
    answer: json({
      kind: "customsearch#search",
      items: [
        {
          kind: "customsearch#result",
          title: first.title,
          link: first.url,
          displayLink: "bees.example",
          snippet: first.description,
        },
        { kind: "customsearch#result", title: second.title, link: second.url, snippet: second.description },
      ],
    }),
    asks: ({ params }) =>
      expect(params).toEqual({
        key: "key-of-google_cse",
        cx: "cx",
        q: asked.query,
        num: "3",
        gl: "us",
        hl: "en",
        lr: "lang_en",
      }),
  },
  duckduckgo: {
    answer: `<!DOCTYPE html><html><body><div id="links" class="results">
      <div class="result results_links result--ad"><h2 class="result__title"><a class="result__a" href="https://ad.example/">Ad</a></h2></div>
      <div class="result results_links results_links_deep web-result"><div class="links_main result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=${target}&amp;rut=0f">Bees &amp; Honey</a></h2>
        <a class="result__snippet" href="//duckduckgo.com/l/?uddg=${target}">All about <b>bees</b>.</a></div></div>
      <div class="result web-result"><h2 class="result__title"><a class="result__a" href="${second.url}">Honey</a></h2>
        <a class="result__snippet">Sweet &amp; golden.</a></div></div></body></html>`,
    asks: ({ params }) => expect(params).toEqual({ q: asked.query, kl: "us-en" }),
  },
  bing: {
    answer: `<!DOCTYPE html><html><body><ol id="b_results"><li class="b_ad"><h2><a href="https://ad.example/">Ad</a></h2></li>
      <li class="b_algo"><h2><a href="https://www.bing.com/ck/a?!&amp;&amp;p=0&amp;u=a1${packed}&amp;ntb=1">Bees &amp; Honey</a></h2>
        <div class="b_caption"><p class="b_lineclamp2">All about <strong>bees</strong>.</p></div></li>
      <li class="b_algo"><h2><a href="${second.url}">Honey</a></h2><div class="b_caption"><p>Sweet &amp; golden.</p></div></li></ol></body></html>`,
    asks: ({ params }) => expect(params).toEqual({ q: asked.query, count: "3", setlang: "en", cc: "US", mkt: "en-US" }),
  },
  baidu: {
    answer: `<!DOCTYPE html><html><body><div id="content_left">
      <div class="result c-container new-pmd" mu="${first.url.replace("&", "&amp;")}" id="1"><h3 class="c-title t"><a href="http://www.baidu.com/link?url=Q1"><em>Bees</em> &amp; Honey</a></h3>
        <span class="content-right_8Zs40">All about <em>bees</em>.</span></div>
      <div class="result c-container" id="2"><h3 class="t"><a href="${second.url}">Honey</a></h3><div class="c-abstract">Sweet &amp; golden.</div></div></div></body></html>`,
    asks: ({ params }) => expect(params).toEqual({ wd: asked.query, rn: "10", ie: "utf-8" }),
  },
  google: {
    answer: `<!doctype html><html><body><div id="search">
      <div class="MjjYud"><div class="yuRUbf"><a href="/url?q=${target}&amp;sa=U"><h3 class="LC20lb">Bees &amp; Honey</h3></a></div><div class="VwiC3b">All about <em>bees</em>.</div></div>
      <div class="MjjYud"><a href="${second.url}"><h3>Honey</h3></a><div class="VwiC3b">Sweet &amp; golden.</div></div>
      <a href="/search?q=more"><h3>More results</h3></a></div></body></html>`,
    asks: ({ params }) => expect(params).toEqual({ q: asked.query, num: "3", hl: "en", gl: "us" }),
  },
};

/** The settings that configure one engine alone, at an address of this machine. */
function only(name: EngineName, url: string): EngineSettings {
  const none = { api_key: undefined, url: undefined };
  const settings = {
    engine: name,
    fallback_engines: [],
    ...{ searxng: none, brave: none, tavily: none, exa: none, serper: none, google_cse: none },
    ...{ duckduckgo: none, bing: none, baidu: none, google: none },
  };
  return { ...settings, [name]: { api_key: `key-of-${name}`, cx: "cx", url } };
}

const open = (settings: EngineSettings) => openEngines(settings, { allow: [], deny: [], only: [] });
const names = Object.keys(cases) as EngineName[];

test("every engine is in the table", () => {
  expect(names).toHaveLength(10);
});

test("an answer of which no hit can be read is told as one in an unknown form", async () => {
  const answer = served(json({ results: [{ link: "https://a.example" }] }), "application/json");
  await using site = startSite({ "/search": answer });
  const engine = open(only("searxng", `${site.url}/`))[0];
  await expect(engine?.search(asked, new AbortController().signal)).rejects.toMatchObject({
    message: "answered in a form that is not known",
  });
});

test.each(names)("%s gets the request it expects, and its answer is parsed", async (name) => {
  const requests: Recorded[] = [];
  const path = name === "searxng" ? "/search" : "/";
  const answer: Handler = async (request) => {
    const params = Object.fromEntries(new URL(request.url).searchParams);
    const text = await request.text();
    requests.push({ params, headers: request.headers, body: text === "" ? undefined : JSON.parse(text) });
    const type = cases[name].answer.startsWith("{") ? "application/json" : "text/html; charset=utf-8";
    return served(cases[name].answer, type)(request);
  };
  await using site = startSite({ [path]: answer });
  const engine = open(only(name, `${site.url}/`))[0];
  expect(engine?.name).toBe(name);
  expect(await engine?.search(asked, new AbortController().signal)).toEqual([first, second]);
  expect(requests).toHaveLength(1);
  for (const request of requests) cases[name].asks(request);
});

test.each(names)("%s gives a clear reason when it refuses, fails or answers nonsense", async (name) => {
  const path = name === "searxng" ? "/search" : "/";
  const problem = async (answer: Handler) => {
    await using site = startSite({ [path]: answer });
    const found = open(only(name, site.url))[0]?.search(asked, new AbortController().signal);
    return await found?.then(
      (hits) => `${hits.length} hits`,
      (error) => error.message,
    );
  };
  expect(await problem(served("", "text/plain", 429))).toContain("too often");
  expect(await problem(served("", "text/plain", 403))).toContain("refused");
  expect(await problem(served("oops", "text/plain", 500))).toContain("status 500");
  expect(await problem(served("\u0000garbage <", "text/html"))).toMatch(/form that is not known|^0 hits$/);
});

test("a page that demands proof of being human is recognized", async () => {
  const page =
    '<html><body><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></body></html>';
  await using site = startSite({ "/": served(page, "text/html") });
  const found = open(only("duckduckgo", site.url))[0]?.search(asked, new AbortController().signal);
  expect(await found?.catch((error) => error.message)).toContain("a human is asking");
});

test("language and country reach each engine under its own parameter names", async () => {
  const seen: Record<string, string>[] = [];
  const answer: Handler = (request) => {
    seen.push(Object.fromEntries(new URL(request.url).searchParams));
    return served('{"web": null, "items": null}', "application/json")(request);
  };
  await using site = startSite({ "/": answer });
  const chinese = { ...asked, lang: "zh-TW", country: "tw" };
  for (const name of ["brave", "google_cse", "duckduckgo", "bing", "google"] as const)
    await open(only(name, site.url))[0]?.search(chinese, new AbortController().signal);
  expect(seen).toMatchObject([
    { country: "TW", search_lang: "zh-hant" },
    { gl: "tw", lr: "lang_zh-TW" },
    { kl: "tw-zh" },
    { setlang: "zh-TW", cc: "TW" },
    { hl: "zh-TW", gl: "tw" },
  ]);
});

test("an engine's own address is open to that engine alone, other hosts as the policy says, and all behind the proxy", async () => {
  const answer = served(cases.brave.answer, "application/json");
  await using allowed = startSite({ "/": answer });
  await using own = startSite({ "/search": served(cases.searxng.answer, "application/json"), "/": answer });
  const search = async (to: string, policy: Partial<EgressSettings> = {}) => {
    await using site = startSite({ "/": () => Response.redirect(to) });
    const settings = { ...only("brave", site.url), searxng: { url: own.url } };
    const engines = openEngines(settings, { allow: [allowed.host], deny: [], only: [], ...policy });
    const found = async (name: EngineName) =>
      engines
        .find((engine) => engine.name === name)
        ?.search(asked, new AbortController().signal)
        .then(
          (hits) => hits.length,
          ({ code }) => code,
        );
    return [await found("searxng"), await found("brave")];
  };
  expect(await search(allowed.url)).toEqual([2, 2]);
  expect(await search(own.url)).toEqual([2, "forbidden"]);
  expect(await search(allowed.url, { proxy: "http://127.0.0.1:1" })).toEqual(["unavailable", "unavailable"]);
});

test("the order is the configured engine, its fallbacks, then the rest; without key or address an engine is left out", () => {
  const settings = { ...only("brave", "http://127.0.0.1:1"), engine: "bing", fallback_engines: ["google"] } as const;
  expect(open(settings).map(({ name }) => name)).toEqual(["bing", "google", "brave", "duckduckgo", "baidu"]);
  expect(open({ ...settings, engine: undefined, fallback_engines: [] })[0]?.name).toBe("brave");
});
