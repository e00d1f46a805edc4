import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/scripted-model";
import type { Page } from "playwright";
import { accessibilityFaults, type ConsoleBrowser, openBrowser } from "../../gateway/src/testing/console-browser.ts";
import { type Site, startSite } from "../agents/browser-site.ts";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const secret = "s3cret-word";
const signIn = `<title>Sign in</title><style>input{position:fixed;left:20px;width:200px;height:30px}</style>
  <form method=post action=/in><input name=who aria-label=Name style="top:20px">
  <input name=word type=password aria-label=Password style="top:60px"><button hidden></button></form>`;

let home: string;
let site: Site;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;
let browser: ConsoleBrowser;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "live-page-"));
  site = startSite(({ url, body }) => (url.pathname === "/in" ? `<h1>Welcome ${body.length}</h1>` : signIn));
  model = await startScriptedModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    if (results === 0) return { calls: [{ name: "browser_go_to_url", args: { url: site.origin } }] };
    const inquire = "Please sign in on the page, then say that you did.";
    if (results === 1) return { calls: [{ name: "ask_human", args: { inquire } }] };
    const said = /A person used the browser for \d+ s/.exec(JSON.stringify(messages))?.[0] ?? "nobody";
    return { text: `${/Welcome \d+/.exec(JSON.stringify(messages))?.[0] ?? "Not in"}. ${said}.` };
  });
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  manus = startManus({
    ...{ MANYHANDS_HOME: home, PORT: `${freePort()}`, SANDBOX: "off", MANYHANDS_EGRESS_ALLOW: site.host },
    ...scripted,
  });
  await manus.ready;
  // Of another home, so that the agent's runs are elsewhere.
  const env = { MANYHANDS_HOME: join(home, "gateway"), PORT: `${freePort()}`, MANUS_URL: manus.url, ...scripted };
  gateway = await startGatewayServer(home, env);
  browser = await openBrowser();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await gateway?.stop("SIGKILL");
  await manus?.stop();
  await model?.close();
  await site?.stop();
  await rm(home, { recursive: true, force: true });
});

const phase = (page: Page, name: string) => page.locator(`[data-live="${name}"]`).waitFor();

/** Clicks at a place of the agent's page, on its picture. */
async function clickAt(page: Page, x: number, y: number): Promise<void> {
  const picture = page.getByRole("img", { name: "The page as it is now" });
  await picture.scrollIntoViewIfNeeded();
  const shown = await picture.boundingBox();
  const natural = await picture.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth);
  if (shown === null) throw new Error("there is no picture");
  const scale = shown.width / natural;
  await page.mouse.click(shown.x + x * scale, shown.y + y * scale);
}

test("a person watches an agent's page, takes it over, signs in, hands it back, and the agent goes on with what is there", async () => {
  const input = `Read what ${site.origin} says to members.`;
  const { body } = await gateway.call("/flows/sequential", { input, agents: ["manus"] });
  await until(async () => (await gateway.call(`/runs/${body.id}`)).body.status === "input-required");
  await using opened = await browser.page(`${gateway.url}/#/c/${body.contextId}`);
  const { page } = opened;
  await page.getByRole("link", { name: "Take over" }).click();
  await phase(page, "watching");
  await page.getByRole("img", { name: "The page as it is now" }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Take over" }).click();
  await phase(page, "held");
  await clickAt(page, 60, 35);
  await page.keyboard.type("ann");
  await page.reload();
  await phase(page, "held");
  await page.getByRole("img", { name: "The page as it is now" }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.locator("[data-live-screen]").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.type(secret);
  await page.keyboard.press("Enter");
  await until(async () => site.requests.some(({ url }) => url.pathname === "/in"));
  expect(site.requests.find(({ url }) => url.pathname === "/in")?.body).toBe(`who=ann&word=${secret}`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await phase(page, "handed-back");
  await gateway.call(`/runs/${body.id}/answer`, { input: "I did." });
  await phase(page, "ended");
  await until(async () => (await gateway.call(`/runs/${body.id}`)).body.status === "completed");
  const { answer } = (await gateway.call(`/runs/${body.id}`)).body;
  expect(JSON.stringify(answer)).toMatch(/Welcome \d+\. A person used the browser for \d+ s\./);
  const journal = await (await fetch(`${gateway.url}/runs/${body.id}/export`)).text();
  expect(journal + JSON.stringify(model.requests)).not.toContain(secret);
  expect(JSON.stringify(model.requests)).toContain("A person used the browser");
}, 240_000);
