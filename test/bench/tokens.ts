import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { freePort } from "manyhands/internal/http/free-port";
import { type ChatRequest, chatText } from "manyhands/internal/models/chat/chat-protocol";
import { startScriptedModel } from "manyhands/internal/testing/scripted-model";
import { rpc, textMessage } from "../a2a/rpc.ts";
import { startAgent, startManus } from "../servers/manus-server.ts";

/**
 * What every request of Manus costs before any work: the tokens of its instructions and its tools,
 * beside the other three agents, in its first request and once a page or its picture is open. Run
 * it with `bun test/bench/tokens.ts`; it exits with 1 if a target is missed.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response("<h1>Open</h1>", { headers: { "content-type": "text/html" } }),
});
const host = `127.0.0.1:${site.port}`;
const turns = [
  { calls: [{ name: "browser_go_to_url", args: { url: `http://${host}/` } }] },
  { calls: [{ name: "browser_screenshot", args: {} }] },
  { text: "done" },
];
const model = await startScriptedModel(turns);

/** A server uses the user's real home, where Bun caches transpiled code. */
const environment = () => ({
  HOME: process.env.HOME ?? folder,
  MANYHANDS_HOME: mkdtempSync(join(folder, "home-")),
  PORT: `${freePort()}`,
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: "none",
  MANYHANDS_MODEL: "scripted",
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

const { body } = await rpc(manus.url, "SendMessage", textMessage(`Open http://${host}/ and take a picture.`));
const requests = model.requests.map((exchange) => exchange.body);
await Promise.all([manus, browser, swe, analyst].map((server) => server.stop()));
await model.close();
await site.stop(true);
rmSync(folder, { recursive: true, force: true });
if (requests.length !== turns.length)
  throw new Error(`${requests.length} requests instead of ${turns.length}: ${JSON.stringify(body)}`);

/** The tokens of what does not depend on the task: the instructions, and each tool. */
function fixedTokens({ messages, tools = [] }: ChatRequest): number {
  const instructions = messages.filter(({ role }) => role === "system").map(chatText);
  const texts = [...instructions, ...tools.map((tool) => JSON.stringify(tool.function))];
  return texts.reduce((sum, text) => sum + encode(text).length, 0);
}

const names = ["first request", "with a page open", "with a picture of it"];
const most = [1_700, 3_000, 3_250];
const figures = requests.map((request, index) => ({
  name: names[index] ?? "",
  tools: request.tools?.length ?? 0,
  value: fixedTokens(request),
  most: most[index] ?? 0,
}));
for (const { name, tools, value, most } of figures) {
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value} tokens, ${tools} tools (at most ${most} tokens)`);
}
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
