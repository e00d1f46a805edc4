import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { rpc, textMessage } from "../a2a/rpc.ts";
import { call, type Move, startPlays } from "../agents/browser-play.ts";
import { startAgent, startManus } from "../servers/manus-server.ts";
import { countWork, fixedTokens } from "./count-tokens.ts";
import { requestsOfFlow } from "./flow-of-three.ts";
import { browsing, filing, shopPage } from "./scripted-work.ts";

/**
 * What Manus sends to a model, in tokens: before any work, beside the other three agents, and over
 * two pieces of scripted work of twenty calls, in all requests together and of that outside of what
 * repeats the request before, which providers serve from their cache; and what a planning flow of
 * three steps sends with its agent. Beside it stand the figures
 * recorded of OpenManus on work of that length, counted with the same tokenizer. Run it with
 * `bun test/bench/tokens.ts`; it exits with 1 if a target is missed.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => new Response(shopPage(new URL(url)), { headers: { "content-type": "text/html" } }),
});
const host = `127.0.0.1:${site.port}`;
const opening: Move[] = [
  call("browser_go_to_url", { url: `http://${host}/` }),
  call("browser_screenshot", {}),
  { text: "done" },
];
const { model, faults } = await startPlays({
  "Open the": opening,
  "Compare the": browsing(`http://${host}/`),
  "Write ten": filing,
});

/** A server uses the user's real home, where Bun caches transpiled code. */
const environment = (modelUrl = model.url) => ({
  HOME: process.env.HOME ?? folder,
  MANYHANDS_HOME: mkdtempSync(join(folder, "home-")),
  PORT: `${freePort()}`,
  OPENAI_BASE_URL: modelUrl,
  OPENAI_API_KEY: "none",
  MANYHANDS_MODEL: "scripted",
  MANYHANDS_LLM_CAPABILITIES_VISION: "true",
  MANYHANDS_EGRESS_ALLOW: host,
});
const [browser, swe, analyst] = ["browser", "swe", "data-analysis"].map((name) => startAgent(name, environment()));
if (browser === undefined || swe === undefined || analyst === undefined) throw new Error("three others are needed");
await Promise.all([browser.ready, swe.ready, analyst.ready]);
const manus = startManus({
  ...environment(),
  BROWSER_URL: browser.url,
  SWE_URL: swe.url,
  DATA_ANALYSIS_URL: analyst.url,
});
await manus.ready;

/** The requests of the turns of one task; those that tools make of their own are left out. */
async function requestsOf(text: string, turns: number): Promise<readonly ChatRequest[]> {
  const before = model.requests.length;
  const { body } = await rpc(manus.url, "SendMessage", textMessage(text));
  const all = model.requests.slice(before).map((exchange) => exchange.body);
  const own = all.filter(({ tools = [] }) => tools.length > 0);
  if (own.length !== turns || faults.length > 0)
    throw new Error(`${own.length} requests instead of ${turns}; ${faults.join(", ")}: ${JSON.stringify(body)}`);
  return own;
}

const first = await requestsOf(`Open the page http://${host}/ and take a picture.`, opening.length);
const withBrowser = await requestsOf(`Compare the kettles on http://${host}/`, browsing("").length);
const without = await requestsOf("Write ten parts of a text.", filing.length);
const flow = await requestsOfFlow(folder, environment);
const others = { BROWSER_URL: browser.url, SWE_URL: swe.url, DATA_ANALYSIS_URL: analyst.url };
const flowBesideOthers = await requestsOfFlow(folder, environment, others);
await Promise.all([manus, browser, swe, analyst].map((server) => server.stop()));
await model.close();
await site.stop(true);
rmSync(folder, { recursive: true, force: true });

/** What OpenManus sent for work of this length. */
const openManus = { fixed: 1_655, withBrowser: 145_000, without: 88_000, outside: 10_700, flow: 13_600 };

const [browsed, filed] = [countWork(withBrowser), countWork(without)];
const figures = [
  { name: "first request", value: fixedTokens(first[0] as ChatRequest), most: 1_700, theirs: openManus.fixed },
  { name: "with a page open", value: fixedTokens(first[1] as ChatRequest), most: 3_000 },
  { name: "with a picture of it", value: fixedTokens(first[2] as ChatRequest), most: 3_250 },
  {
    name: "work with a browser",
    value: browsed.total,
    most: 0.7 * openManus.withBrowser,
    theirs: openManus.withBrowser,
  },
  { name: "work without one", value: filed.total, most: 0.7 * openManus.without, theirs: openManus.without },
  { name: "outside the prefix, with a browser", value: browsed.outside, most: 11_200, theirs: openManus.outside },
  {
    name: "outside the prefix, without",
    value: filed.outside,
    most: 0.5 * openManus.outside,
    theirs: openManus.outside,
  },
  { name: "a flow of three steps by Manus alone", value: countWork(flow).total, most: 13_000, theirs: openManus.flow },
  { name: "the same with three agents to delegate to", value: countWork(flowBesideOthers).total },
  { name: "requests of the flow", value: flow.length, most: 8, of: "requests" },
];
for (const { name, value, most, theirs, of = "tokens" } of figures) {
  const verdict = most === undefined ? "    " : value <= most ? "ok  " : "MISS";
  const beside = [
    ...(most === undefined ? [] : [`at most ${Math.round(most)}`]),
    ...(theirs === undefined ? [] : [`OpenManus ${theirs}`]),
  ];
  const told = beside.length === 0 ? "" : ` (${beside.join("; ")})`;
  console.log(`${verdict} ${name}: ${value} ${of}${told}`);
}
process.exit(figures.every(({ value, most = Number.POSITIVE_INFINITY }) => value <= most) ? 0 : 1);
