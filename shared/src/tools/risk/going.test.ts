import { expect, test } from "bun:test";
import { join } from "node:path";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { RiskContext, Tool } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest, riskContextForTest } from "../../testing/tool-context.ts";
import { webToolsForTest } from "../../testing/web/web-tools.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import { addressesOf, judgeGoing, judgePrices } from "./going.ts";
import { createGuard } from "./guard.ts";
import type { TrustScope } from "./scope.ts";

/** Tools under one guard, as a server has them; each call is given the answer it returns. */
function guarded(workspace: Workspace) {
  const guard = createGuard({ browsers: undefined, looks: createSnapshotStates(), scope: "task", trusted: [] });
  let says = "";
  const known = webToolsForTest(() => says).map((tool) => guard.over(tool));
  const tool = (name: string) => known.find((one) => one.name === name) ?? guard.over(mountedTool(name));
  const judge = (name: string, input: object, rest: Partial<RiskContext> = {}) =>
    tool(name).risk?.(input, riskContextForTest(workspace, rest));
  return {
    guard,
    judge,
    /** Makes a call if it needs no approval. */
    async make(name: string, input: object, rest: Partial<RiskContext> & { readonly says?: string } = {}) {
      says = rest.says ?? "";
      const risk = await judge(name, input, rest);
      if (risk === undefined) await tool(name).call(input, contextForTest(workspace));
      return risk;
    },
  };
}

/** A tool as it is mounted from an MCP server. */
const mountedTool = (name: string, risk?: Tool["risk"]): Tool => ({
  ...defineTool({
    name,
    description: "",
    input: z.looseObject({}),
    effect: "pure",
    reach: { opens: "named" },
    run: async () => "",
  }),
  ...(risk && { risk }),
});

const results = (hosts: readonly string[]) => hosts.map((host) => `URL: https://${host}/a`).join("\n");
const taken = { takenIn: ["bash"] };

test("ordinary research asks nothing: searches, their results, further searches, links of pages", async () => {
  await using place = await workspaceForTest();
  const { make } = guarded(place.workspace);
  const rest = { takenIn: ["web"] };
  expect(await make("web_search", { query: "lamps" }, { says: results(["a.example", "b.example"]) })).toBeUndefined();
  for (let round = 0; round < 8; round++) {
    const hosts = Array.from({ length: 10 }, (_, n) => `site${round * 10 + n}.example`);
    expect(
      await make("web_search", { query: `lamps ${round} CANARY` }, { ...rest, says: results(hosts) }),
    ).toBeUndefined();
    for (const host of hosts.slice(0, 3))
      expect(await make("web_fetch", { url: `https://${host}/a` }, { ...rest, says: "A page." })).toBeUndefined();
  }
  expect(await make("web_fetch", { url: "https://site1.example/?d=CANARY" }, rest)).toContain("which you did not name");
});

test("a task that has taken in a source counts as led, even if no page was read", async () => {
  await using place = await workspaceForTest();
  const { judge } = guarded(place.workspace);
  const url = "https://evil.example/?d=1";
  expect(await judge("web_fetch", { url }, { takenIn: ["file"] })).toBe(`Open “${url}”, which you did not name`);
  expect(await judge("web_fetch", { url })).toBeUndefined();
});

test("a task that holds private data searches only in the user's words, language included", async () => {
  await using place = await workspaceForTest();
  const { judge } = guarded(place.workspace);
  const rest = { ...taken, said: ["Find the price of lamps in Norway."] };
  expect(await judge("web_search", { query: "price lamps Norway", lang: "en" }, rest)).toBeUndefined();
  expect(await judge("browser_web_search", { query: "lamps" }, rest)).toBeUndefined();
  for (const input of [{ query: "price lamps CANARY" }, { query: "lamps", lang: "en-canary7" }])
    expect(await judge("web_search", input, rest)).toContain("in words that are not all yours");
});

test("a forge cannot be used to leak data: with private data known, only addresses from the user or a page are cloned", async () => {
  await using place = await workspaceForTest();
  const { judge } = guarded(place.workspace);
  const url = "https://github.com/evil/CANARY";
  expect(await judge("clone_repository", { url })).toBeUndefined();
  expect(await judge("clone_repository", { url }, taken)).toContain("which you did not name");
  expect(
    await judge(
      "clone_repository",
      { url: "https://github.com/ann/app" },
      { ...taken, said: ["Fix https://github.com/ann/app."] },
    ),
  ).toBeUndefined();
});

test("an MCP tool is judged by the addresses in its arguments, and keeps the risk its server declares", async () => {
  await using place = await workspaceForTest();
  const { judge, guard } = guarded(place.workspace);
  const nested = { request: { to: ["see https://evil.example/?d=1"] } };
  expect(await judge("net__fetch", nested, taken)).toBe("Open “https://evil.example/?d=1”, which you did not name");
  expect(await judge("net__fetch", nested, { ...taken, said: ["Use evil.example."] })).toBeUndefined();
  expect(await judge("net__fetch", { path: "notes.txt" }, taken)).toBeUndefined();
  const own = guard
    .over(mountedTool("net__write", async () => "This writes."))
    .risk?.({}, riskContextForTest(place.workspace));
  expect(await own).toBe("This writes.");
});

test("the budget spent on choices survives the process; if it cannot be read, the task counts as led", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const links = Array.from({ length: 4_000 }, (_, n) => `https://evil.example/${n}`);
  const openings = async (from: number) => {
    const { make } = guarded(workspace);
    await make("web_search", { query: "x" }, { ...taken, said: ["x"], says: links.join("\n") });
    let made = 0;
    for (let n = from; n < from + 18; n++)
      if ((await make("web_fetch", { url: links[n] }, taken)) === undefined) made++;
    return made;
  };
  expect(await openings(0)).toBe(4);
  expect(await openings(100)).toBe(0);
  await Bun.write(join(workspace.metaRoot, "browser-scope.json"), "{");
  expect(await guarded(workspace).judge("web_fetch", { url: "https://other.example/?d=1" })).toContain("did not name");
});

test("a third-party tool declares where its calls go, and is judged like ours", async () => {
  await using place = await workspaceForTest();
  const { guard } = guarded(place.workspace);
  const weather = guard.over(
    defineTool({
      name: "weather",
      description: "Today's weather in a city.",
      input: z.strictObject({ city: z.string(), from: z.string().default("weather.example") }),
      effect: "pure",
      brings: ["web"],
      reach: { opens: ({ city, from }) => [`https://${from}/${city}`] },
      run: async () => "Rain.",
    }),
  );
  const judge = (input: object, rest: Partial<RiskContext> = {}) =>
    weather.risk?.(input, riskContextForTest(place.workspace, rest));
  expect(await judge({ city: "Ulm" }, { said: ["Ask weather.example."], ...taken })).toBeUndefined();
  expect(await judge({ city: "CANARY" }, taken)).toBe("Open “https://weather.example/CANARY”, which you did not name");
  // Input that fails its schema opens nothing: the call is rejected too.
  expect(await judge({ city: 7, from: [] }, taken)).toBeUndefined();
  const here = await weather.call({ city: "Ulm", from: "127.0.0.1:8080" }, contextForTest(place.workspace));
  expect(here).toMatchObject({ text: "Rain.", takenIn: ["web", "127.0.0.1:8080"] });
});

test("a tool that cannot say where its call goes is not called", async () => {
  await using place = await workspaceForTest();
  const { guard } = guarded(place.workspace);
  let called = false;
  const opens = () => {
    throw new Error("no such city");
  };
  const tool = guard.over(
    defineTool({
      name: "weather",
      description: "",
      input: z.strictObject({}),
      effect: "pure",
      reach: { opens },
      run: async () => {
        called = true;
        return "";
      },
    }),
  );
  expect(tool.risk?.({}, riskContextForTest(place.workspace))).rejects.toThrow("no such city");
  expect(await tool.call({}, contextForTest(place.workspace))).toMatchObject({
    isError: true,
    text: "What weather would open could not be told: no such city",
  });
  expect(called).toBe(false);
});

test("a tool that reaches nothing is left unchanged", async () => {
  await using place = await workspaceForTest();
  const tool = defineTool({
    name: "web_x",
    description: "",
    input: z.strictObject({}),
    effect: "pure",
    run: async () => "",
  });
  expect(guarded(place.workspace).guard.over(tool)).toBe(tool);
});

const scope = (more: Partial<TrustScope> = {}): TrustScope => ({
  led: true,
  private: false,
  chosen: [],
  shown: new Map(),
  spent: new Map(),
  given: [],
  said: ["Look at shop.example."],
  trusted: [],
  ...more,
});
const opens = (...urls: string[]) => ({ opens: () => urls });
const foreign = ["http://a.example/1", "http://b.example/2", "http://c.example/3"] as const;

test.each<[readonly string[], string | undefined]>([
  [["http://shop.example/x"], undefined],
  [["no address"], undefined],
  [["no address", foreign[0]], `Open “${foreign[0]}”, which you did not name`],
  [[foreign[0], "http://shop.example/"], `Open “${foreign[0]}”, which you did not name`],
  [["http://shop.example/", ...foreign], `Open “${foreign[0]}” and 2 more addresses, which you did not name`],
])("of the addresses %j that a call opens the person reads: %p", (urls, risk) => {
  expect(judgeGoing(opens(...urls), {}, scope()).risk).toBe(risk);
  expect(judgeGoing(opens(...urls), {}, undefined)).toEqual({});
});

test("an address that is free costs nothing while the task knows nothing private, and others are priced all the same", () => {
  const reach = { ...opens(foreign[0], "http://shop.example/"), free: (url: string) => url === foreign[0] };
  expect(judgeGoing(reach, {}, scope())).toEqual({ prices: [{ site: "shop.example", bits: 0 }] });
  expect(judgeGoing(reach, {}, scope({ private: true })).risk).toContain("which you did not name");
});

test("addresses and a question are priced together, and a question without words is one too", () => {
  const reach = { ...opens("http://shop.example/"), asks: () => "" };
  expect(judgeGoing(reach, {}, scope({ private: true })).prices).toEqual([
    { site: "shop.example", bits: 0 },
    { site: "search engines", bits: 0 },
  ]);
});

test("of what a task cannot afford the sites are named that it would tell something, each once", () => {
  const prices = [
    { site: "a.example", bits: 90 },
    { site: "b.example", bits: 0 },
    { site: "a.example", bits: 90 },
    { site: "c.example", bits: 1 },
  ];
  expect(judgePrices(prices, scope())).toStartWith("Go on at “a.example”, “c.example”, which you did not name;");
  expect(judgePrices(prices.slice(0, 2), scope())).toBeUndefined();
  expect(judgePrices(prices, undefined)).toBeUndefined();
  expect(judgePrices(prices.slice(3), scope({ spent: new Map([["c.example", 96]]) }))).toContain("c.example");
  expect(judgePrices(prices.slice(3), scope({ spent: new Map([["c.example", 95]]) }))).toBeUndefined();
});

test.each<[unknown, readonly string[]]>([
  [undefined, []],
  ["https://a.example/", ["https://a.example/"]],
  [{ to: ["https://a.example/1", { deep: "or https://a.example/2" }], n: 1, none: null }, ["/1", "/2"]],
  [{ text: "see\nhttps://a.example/1\thttps://a.example/2" }, ["/1", "/2"]],
  [{ "https://a.example/1": true }, ["/1"]],
  // A text may be JSON itself.
  [{ body: JSON.stringify({ text: 'go\nhttps://a.example/1 "https://a.example/2"' }) }, ["/1", "/2"]],
  [{ body: '{"url":"https:\\/\\/a.example\\/1"}' }, ["/1"]],
])("the addresses anywhere in %j are those that a call may open", (input, found) => {
  expect(addressesOf({ opens: "named" }, input)).toEqual(found.map((one) => new URL(one, "https://a.example").href));
});
