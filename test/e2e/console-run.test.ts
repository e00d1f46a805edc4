import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import type { Browser, Page } from "playwright";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const args = { command: "create", path: "greeting.txt", file_text: "Hello <b>world</b>\n" };
const waitMs = 60_000;

let home: string;
let model: ScriptedModel;
let manus: AgentServer;
let browser: Browser;
/** Those that a failed test has left running, too. */
const gateways: GatewayServer[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "console-run-"));
  model = await startScriptedModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    if (results === 0) return { calls: [{ name: "str_replace_editor", args }] };
    return results === 1
      ? { calls: [{ name: "ask_human", args: { inquire: "Shall I go on?" } }] }
      : { text: "It is written." };
  });
  await startAgent();
  browser = await startChromium();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await Promise.all([manus, ...gateways].map((server) => server.stop("SIGKILL")));
  await model.close();
  await rm(home, { recursive: true });
});

const agentPort = freePort();

/** The agent, as a supervisor would start it anew. */
async function startAgent(): Promise<void> {
  manus = startManus({ MANYHANDS_HOME: home, PORT: `${agentPort}`, SANDBOX: "off", ...scripted() });
  await manus.ready;
}

const scripted = () => ({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" });

/** A gateway that knows the agent; with the agent's own home, or with another. */
async function startGateway(state: string, port = freePort()): Promise<GatewayServer> {
  const env = { MANYHANDS_HOME: state, PORT: `${port}`, MANUS_URL: manus.url, ...scripted() };
  const gateway = await startGatewayServer(home, env);
  gateways.push(gateway);
  return gateway;
}

async function startRun(gateway: GatewayServer): Promise<string> {
  const { body } = await gateway.call("/flows/sequential", { input: "Write a greeting", agents: ["manus"] });
  await until(async () => (await gateway.call(`/runs/${body.id}`)).body.status === "input-required");
  return body.id;
}

async function open(gateway: GatewayServer, place: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(waitMs);
  await page.goto(`${gateway.url}/${place}`);
  return page;
}

const row = (page: Page, name: string) => page.getByRole("treeitem", { name: new RegExp(name) });

test("a flow's tree leads to an agent's tool result; a reload and a kill -9 of the gateway and of the agent in mid-run lose nothing on screen", async () => {
  const port = freePort();
  let gateway = await startGateway(home, port);
  const id = await startRun(gateway);
  const page = await open(gateway, `#/runs/${id}`);
  await row(page, "str_replace_editor").click();
  const inspector = page.getByRole("complementary", { name: "What was done" });
  await inspector.getByText("File created successfully").waitFor();
  await inspector.getByText("Hello <b>world</b>").waitFor();
  expect(await inspector.locator("b").count()).toBe(0);
  await inspector.getByRole("tab", { name: "Arguments" }).click();
  await inspector.getByText('"file_text"').waitFor();
  expect(page.url()).toMatch(/event=\d+&run=/);
  await page.reload();
  await inspector.getByText('"file_text"').waitFor();
  const before = await page.getByRole("treeitem").count();

  await gateway.stop("SIGKILL");
  await page.getByText("Connection lost. The task keeps running.").waitFor();
  expect(await page.getByRole("treeitem").count()).toBe(before);
  gateway = await startGateway(home, port);
  await page.getByText("Connection lost. The task keeps running.").waitFor({ state: "hidden" });
  await manus.stop("SIGKILL");
  await startAgent();
  expect(await page.getByRole("treeitem").count()).toBe(before);
  expect((await gateway.call(`/runs/${id}/answer`, { input: "yes" })).status).toBe(202);
  await page.locator('[data-state="completed"]').waitFor();
  expect(await page.getByRole("treeitem").count()).toBeGreaterThanOrEqual(before);
  await row(page, "sequential").click();
  await inspector.getByText("It is written.").first().waitFor();
  await page.getByRole("tab", { name: /Files/ }).click();
  await page
    .getByRole("button", { name: /greeting.txt/ })
    .first()
    .click();
  await page.getByText("Hello <b>world</b>").waitFor();
  await page.close();
  await gateway.stop("SIGKILL");
}, 180_000);

test("the calls of an agent that keeps its runs elsewhere are in the tree too", async () => {
  const gateway = await startGateway(join(home, "elsewhere"));
  const id = await startRun(gateway);
  const page = await open(gateway, `#/runs/${id}`);
  await row(page, "manus").getByText("runs elsewhere").waitFor();
  await row(page, "str_replace_editor").click();
  await page.getByText("File created successfully").waitFor();
  await gateway.call(`/runs/${id}/answer`, { input: "yes" });
  await page.locator('[data-state="completed"]').waitFor();
  await page.close();
  await gateway.stop("SIGKILL");
}, 180_000);

test("a run is found by what its agent did, opened there, started again and deleted", async () => {
  const gateway = await startGateway(home);
  const id = await startRun(gateway);
  await gateway.call(`/runs/${id}/answer`, { input: "yes" });
  await until(async () => (await gateway.call(`/runs/${id}`)).body.status === "completed");
  const page = await open(gateway, "#/runs");
  await page.getByRole("searchbox", { name: /Search tasks/ }).fill("world");
  const found = page.locator(`[data-run="${id}"]`);
  await found.locator("mark", { hasText: "world" }).first().waitFor();
  expect(page.url()).toContain("q=world");
  await found.getByRole("link").click();
  await row(page, "str_replace_editor").and(page.locator('[aria-selected="true"]')).waitFor();
  await page.getByRole("button", { name: "Rerun" }).first().click();
  await page.waitForURL((url) => url.hash.startsWith("#/runs/") && !url.hash.includes(id));
  await page.goto(`${gateway.url}/#/runs?status=completed`);
  await found.getByRole("checkbox").click();
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await found.waitFor({ state: "detached" });
  expect((await gateway.call(`/runs/${id}`)).status).toBe(404);
  await page.close();
  await gateway.stop("SIGKILL");
}, 180_000);
