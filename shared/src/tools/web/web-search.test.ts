import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { createEgress } from "../../machine/egress/egress.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { served, startSite } from "../../testing/web/site.ts";
import { createRobots } from "../page/robots.ts";
import type { EngineName, Hit, SearchEngine } from "./search/engine.ts";
import { normalisedUrl } from "./search/normalised-url.ts";
import { searchAll } from "./search/search-all.ts";
import { webSearch } from "./web-search.ts";

const engine = (name: EngineName, search: SearchEngine["search"]): SearchEngine => ({ name, search });
const hit = (url: string): Hit => ({ title: `Title of ${url}`, url, description: "words" });
const gives = (name: EngineName, ...urls: string[]) => engine(name, async () => urls.map(hit));
const asked = { query: "q", count: 3, lang: "en", country: "us" };
const never = new AbortController().signal;

async function search(engines: SearchEngine[], input: Record<string, unknown>, hosts: string[] = []) {
  await using at = await workspaceForTest();
  const egress = createEgress({ allow: hosts, deny: [], only: [] });
  const tool = webSearch({ engines, egress, robots: createRobots(egress), lang: "en", country: "us" });
  return tool.call(input, contextForTest(at.workspace));
}

test("results have position, source, title, address and description, then the engines asked and those that failed", async () => {
  const down = engine("brave", () => Promise.reject(new AppError("unavailable", "failed with status 500")));
  const { text, isError } = await search([down, gives("bing", "https://a.example/")], {
    query: " bees ",
    num_results: 1,
  });
  expect(isError).toBe(false);
  expect(text).toBe(`Search results for 'bees':

<web-content from="search results">
1. Title of https://a.example/
   URL: https://a.example/
   Source: bing
   Description: words
</web-content>

Metadata:
- Total results: 1
- Language: en
- Country: us
- Without results: brave (failed with status 500)`);
});

test("engines that hang, fail or break do not affect the others", async () => {
  const hangs = engine("google", (_, signal) => {
    const { promise, reject } = Promise.withResolvers<readonly Hit[]>();
    const timeout = setTimeout(() => reject(new AppError("timeout", "did not answer")), 100);
    signal.addEventListener("abort", () => clearTimeout(timeout));
    return promise;
  });
  const breaks = engine("bing", () => Promise.reject(new TypeError("null is not an object")));
  const { found, failures } = await searchAll(
    [hangs, breaks, gives("baidu"), gives("exa", "https://a.example/")],
    asked,
    never,
  );
  expect(found.map(({ url, source }) => [url, source])).toEqual([["https://a.example/", "exa"]]);
  expect(failures.map(({ engine }) => engine)).toEqual(["google", "bing", "baidu"]);
});

test("the whole search has a time limit, and an abort its own reason", async () => {
  const hangs = engine(
    "google",
    (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  const { failures } = await searchAll([hangs, gives("bing", "https://a.example/")], asked, never, 50);
  expect(failures).toEqual([{ engine: "google", reason: "no time was left" }]);
  const control = new AbortController();
  const reason = new Error("canceled");
  const pending = searchAll([hangs], asked, control.signal);
  control.abort(reason);
  expect(await pending.catch((error) => error)).toBe(reason);
});

test("once the time is over no further engine is asked, whatever the last one answered", async () => {
  const slow = engine("google", async (_, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return [hit("https://late.example/")];
  });
  let further = 0;
  const next = engine("bing", async () => {
    further++;
    return [hit("https://a.example/")];
  });
  const { found, failures } = await searchAll([slow, next], asked, never, 20);
  expect([found.map(({ url }) => url), failures, further]).toEqual([["https://late.example/"], [], 0]);
});

test("a page found by several engines counts once, and engines are asked until there are enough pages", async () => {
  let more = 0;
  const engines = [
    gives("brave", "https://www.a.example/x/?utm_source=s&b=2&a=1", "ftp://a.example/", "no address"),
    gives("bing", "http://a.example/x?a=1&b=2#part", "https://b.example", "https://c.example", "https://d.example"),
    engine("google", async () => {
      more++;
      return [];
    }),
  ];
  const { found } = await searchAll(engines, asked, never);
  expect(found.map(({ source }) => source)).toEqual(["brave", "bing", "bing"]);
  expect(more).toBe(0);
  expect(normalisedUrl("https://a.example/?q=1")).not.toBe(normalisedUrl("https://a.example/?q=2"));
});

test("a search without any result is a failure that names every engine", async () => {
  const { text, isError } = await search([gives("bing"), gives("google")], { query: "q" });
  expect(isError).toBe(true);
  expect(text).toBe(
    "No search engine gave results for 'q'.\n- Without results: bing (no results); google (no results)",
  );
});

test("fetch_content adds the beginning of each page, and why one could not be read", async () => {
  await using site = startSite({ "/a": served(`<p>${"long words ".repeat(2000)}</p>`, "text/html") });
  const engines = [gives("bing", `${site.url}/a`, `${site.url}/gone`, "http://10.0.0.1/")];
  const { text } = await search(engines, { query: "q", fetch_content: true, num_results: 3 }, [site.host]);
  expect(text).toContain("Content:\nlong words long words");
  expect(text).toContain("(could not be read: The server answered with status 404.)");
  expect(text).toContain("not public");
  expect(text.length).toBeLessThan(10_000);
});

test("the engines are asked for what the call asks for, until it ends", async () => {
  const given: unknown[] = [];
  const asking = engine("bing", async (...all) => {
    given.push(...all);
    return [hit("https://a.example/")];
  });
  await using at = await workspaceForTest();
  const control = new AbortController();
  const egress = createEgress({ allow: [], deny: [], only: [] });
  const tool = webSearch({ engines: [asking], egress, robots: createRobots(egress), lang: "de", country: "at" });
  const call = (input: object) => tool.call(input, contextForTest(at.workspace, { signal: control.signal }));
  await call({ query: "bees", num_results: 7, lang: "fr" });
  await call({ query: "bees" });
  const [first, signal, second] = given;
  expect([first, second]).toEqual([
    { query: "bees", count: 7, lang: "fr", country: "at" },
    { query: "bees", count: 5, lang: "de", country: "at" },
  ]);
  const reason = new Error("enough");
  control.abort(reason);
  expect((signal as AbortSignal).reason).toBe(reason);
});

test("pages that are read share a result's room, each told between marks, and a description is cut", async () => {
  const long = served("long words ".repeat(2_000), "text/plain");
  await using site = startSite({ "/a": long, "/b": long });
  const found = ["/a", "/b"].map((path) => ({ ...hit(site.url + path), description: "x".repeat(900) }));
  const { text } = await search([engine("bing", async () => found)], { query: "q", fetch_content: true }, [site.host]);
  const contents = text.match(/(?<=Content:\n).*/g) ?? [];
  expect(contents.map((content) => [content.length, content.at(-1)])).toEqual([
    [4_001, "…"],
    [4_001, "…"],
  ]);
  expect(text).toMatch(/^Search results for 'q':\n\n<web-content from="search results">\n1\. /);
  expect(text).toContain("400 characters left out");
});

test("an abort while pages are read ends the search with its own reason", async () => {
  const control = new AbortController();
  const reason = new Error("enough");
  await using site = startSite({
    "/a": () => {
      control.abort(reason);
      return new Promise<Response>(() => undefined);
    },
  });
  await using at = await workspaceForTest();
  const egress = createEgress({ allow: [site.host], deny: [], only: [] });
  const engines = [gives("bing", `${site.url}/a`)];
  const given: AbortSignal[] = [];
  const robots = { admit: async (_: URL, signal: AbortSignal) => void given.push(signal) };
  const tool = webSearch({ engines, egress, robots, lang: "en", country: "us" });
  const pending = tool.call(
    { query: "q", fetch_content: true },
    contextForTest(at.workspace, { signal: control.signal }),
  );
  expect(await pending.catch((error) => error)).toBe(reason);
  expect([given.length, given[0] === control.signal]).toEqual([1, true]);
});

test.each([
  ["en", "bees"],
  ["DE", "bees"],
  ["pt_BR", "bees"],
  ["zh-hant", "bees"],
  ["zh-secret12", "bees zh-secret12"],
])("what a search in the language %s tells the engines, and may get back as a link, is %p", (lang, told) => {
  const egress = createEgress({ allow: [], deny: [], only: [] });
  const { reach } = webSearch({ engines: [], egress, robots: createRobots(egress), lang: "en", country: "us" });
  const input = { query: "bees", lang };
  expect([reach?.asks?.(input), reach?.writes?.(input), reach?.finds]).toEqual([told, told, true]);
  // What the settings say tells nothing of a task.
  const usual = webSearch({ engines: [], egress, robots: createRobots(egress), lang, country: "us" });
  expect(usual.reach?.asks?.(input)).toBe("bees");
});

test("an invalid language or country goes back to the model", async () => {
  for (const wrong of [{ lang: "e n" }, { country: "usa" }, { num_results: 0 }, { query: " " }])
    expect((await search([], { query: "q", ...wrong })).text).toStartWith("Invalid arguments for web_search");
});
