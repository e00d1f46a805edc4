import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { callerNamed } from "manyhands/internal/core/caller";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import type { BrowserContextOptions, Page } from "playwright";
import { serveCard } from "../testing/card-server.ts";
import { type ConsoleBrowser, expectAccessible, openBrowser } from "../testing/console-browser.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const hostile = resolve(import.meta.dir, "../../../test/mcp/hostile.fixture.ts");

let browser: ConsoleBrowser;
let gateway: TestGateway;
let model: ScriptedModel;
let agent: ReturnType<typeof serveCard>;
beforeAll(async () => {
  model = await startScriptedModel(() => ({ calls: [{ name: "report_ready", args: { word: "ready" } }] }));
  gateway = await startGateway({ toml: '# Ours.\n[llm]\nmodel = "old" # mine\nbase_url = "http://127.0.0.1:9/v1"\n' });
  await chmod(gateway.home, 0o711);
  agent = serveCard("Greeter");
  await gateway.registry.add({ url: agent.url, name: "greeter" });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await agent?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await model?.close();
});

/**
 * A page that has asked nobody but the gateway and has not complained, as is seen when it closes.
 */
const open = (place: string, look: BrowserContextOptions = {}, { url }: Pick<TestGateway, "url"> = gateway) =>
  browser.page(`${url}/${place}`, { viewport: { width: 1280, height: 900 }, ...look });

/** Takes a picture for whoever looks at the pages, if a folder for it is named. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.MANYHANDS_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

const toml = () => readFile(join(gateway.home, "manyhands.toml"), "utf8");

test("a model is tried with a real request, saved without losing the file's comments, and its key is not shown", async () => {
  await using opened = await open("#/settings/model");
  const { page } = opened;
  await page.getByLabel("Model", { exact: true }).fill("scripted");
  await page.getByLabel("Endpoint", { exact: true }).fill(model.url);
  await page.getByLabel("Key", { exact: true }).fill("sk-very-secret");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("The model answered.").waitFor();
  await page.getByText("Listed at the endpoint · Streams its answer · Calls tools").waitFor();
  await look(page, "model");
  expect(await toml()).not.toContain("scripted");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("running servers still use the previous model").waitFor();
  await page.getByText(/A key is set/).waitFor();
  expect(await toml()).toBe(
    `# Ours.\n[llm]\nmodel = "scripted" # mine\nbase_url = "${model.url}"\napi_key = "sk-very-secret"\n`,
  );
  expect(await page.content()).not.toContain("sk-very-secret");
  await page.getByLabel("Endpoint", { exact: true }).fill("http://127.0.0.1:9/v1");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("the stored key is for").waitFor();
});

test("a sandbox tier is tried and written to the configuration, and the page says that a restart is due", async () => {
  await using opened = await open("#/settings/sandbox");
  const { page } = opened;
  expect(await page.getByLabel(/^auto/).isChecked()).toBe(true);
  await page.getByLabel(/^bwrap/).check();
  const before = await toml();
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("Works here: bwrap.").waitFor();
  expect(await toml()).toBe(before);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("running servers still use the previous tier").waitFor();
  await page.getByText("Stop manyhands and start it again").waitFor();
  expect(await toml()).toEndWith('\n[sandbox]\ntier = "bwrap"\n');
  await look(page, "sandbox");
  await page.reload();
  await page.getByText("running servers still use the previous tier").waitFor();
  expect(await page.getByLabel(/^bwrap/).isChecked()).toBe(true);
});

test("an MCP server is added, tested, disabled and removed by its buttons", async () => {
  await using opened = await open("#/settings/servers");
  const { page } = opened;
  await page.getByText("No MCP servers").waitFor();
  await page.getByRole("button", { name: "Add a server" }).click();
  await page.getByLabel("Name", { exact: true }).fill("h");
  await page.getByLabel("URL, or the command that starts it").fill(`${process.execPath} "${hostile}" plain`);
  await page.getByLabel("Variables or headers").fill("TOKEN=very-secret");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Test: h" }).click();
  await page.getByText("Works: 16 tools").waitFor();
  await look(page, "servers");
  expect(await page.content()).not.toContain("very-secret");
  const mcp = async () => JSON.parse(await readFile(join(gateway.home, "mcp.json"), "utf8")).mcpServers;
  expect(await mcp()).toMatchObject({ h: { args: [hostile, "plain"], env: { TOKEN: "very-secret" } } });
  await page.getByLabel("Enabled").click();
  await page.getByRole("button", { name: "Test: h" }).and(page.locator(":disabled")).waitFor();
  await page.getByRole("button", { name: "Remove: h" }).click();
  await page.getByText("No MCP servers").waitFor();
  expect(await mcp()).toEqual({});
});

test("a token is made, shown once and revoked", async () => {
  await using opened = await open("#/settings/tokens");
  const { page } = opened;
  await page.getByText("They have no effect yet").waitFor();
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Name").fill("ci");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await page.locator(".secret code").innerText();
  expect(secret).toMatch(/^mh_/);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: "ci" }).waitFor();
  await look(page, "tokens");
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("button", { name: "Revoke: ci" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("No tokens").waitFor();
});

test("a schedule is added, run, paused and removed by its buttons, beside triggers and who is told", async () => {
  await using there = serveCard("Worker");
  const toml = `[triggers.hub]\ntype = "github"\nsecret = "very-secret-hook"\nstart = "echo"\ntask = "Look at {{issue.title}}"\n[notify.team]\ntype = "slack"\nurl = "${there.url}/very-secret-address"\n`;
  await using other = await startGateway({ toml });
  await using opened = await open("#/starts", {}, other);
  const { page } = opened;
  await page.getByText("No schedules").waitFor();
  await page.getByText(`${other.url}/hooks/hub`).waitFor();
  await page.getByRole("button", { name: "Add a schedule" }).click();
  await page.getByLabel("Name").fill("report");
  await page.getByLabel("Task").fill("Say hello");
  await page.getByLabel("When").fill("0 99 * * *");
  await page.getByLabel("Tell team").check();
  const add = page.getByRole("dialog").getByRole("button", { name: "Add a schedule" });
  await add.click();
  await page.getByText(/is not a cron expression/).waitFor();
  await page.getByLabel("When").fill("0 8 * * *");
  await add.click();
  await page.getByText(/^Next: /).waitFor();
  await expectAccessible(page);
  await look(page, "starts");
  await page.getByRole("button", { name: "Run now: report" }).click();
  await page.getByText(/^Last: started by hand/).click();
  await page.getByRole("link", { name: "Run", exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause: report" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause: hub" }).click();
  await page.getByRole("button", { name: "Resume: hub" }).waitFor();
  expect(await page.content()).not.toContain("very-secret");
  await page.getByRole("button", { name: "Remove: report" }).click();
  await page.getByText("No schedules").waitFor();
});

test("what is remembered is written, changed and removed, also by a caller who is not an operator", async () => {
  const identify = () => callerNamed("ann", ["read", "run"]);
  await using other = await startGateway({ app: { identify }, toml: '[memory]\nprincipals = ["ann"]\n' });
  await using opened = await open("#/settings/memory", {}, other);
  const { page } = opened;
  await page.getByText("Nothing is remembered").waitFor();
  await page.getByRole("button", { name: "Remember something" }).click();
  await page.getByLabel("What to remember").fill("Tea, <b>never</b> coffee.");
  await page.getByLabel("Preference").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Tea, <b>never</b> coffee.").waitFor();
  await look(page, "memory");
  await page.getByRole("button", { name: /^Edit/ }).click();
  await page.getByLabel("What to remember").fill("Coffee, after all.");
  await page.getByLabel("Anybody may know this").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Coffee, after all.").waitFor();
  await page.getByText("anybody may know it").waitFor();
  await page.getByRole("button", { name: /^Remove:/ }).click();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("Nothing is remembered").waitFor();
});

test("somebody who does not operate the system sees no settings and no builder", async () => {
  const identify = () => callerNamed("ann", ["read", "run"]);
  await using other = await startGateway({ app: { identify } });
  await using opened = await open("#/settings/model", {}, other);
  const { page } = opened;
  for (const place of ["settings/model", "settings/sandbox", "settings/servers", "settings/tokens", "build"]) {
    await page.goto(`${other.url}/#/${place}`);
    await page.getByText("Settings are for the operator").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  }
});

test("a route is tried: parameters, body, response with its status, events as they arrive, and a line for a shell", async () => {
  await using opened = await open("#/api");
  const { page } = opened;
  await page.getByLabel("Find a route").fill("starts a flow");
  await page.getByRole("link", { name: "/flows/{name}" }).click();
  await page.getByLabel("name (path, required)").fill("echo");
  expect(JSON.parse(await page.getByLabel("Body").inputValue())).toEqual({ input: "text" });
  await page.getByLabel("Body").fill("{");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("The body is not valid JSON").waitFor();
  await page.getByLabel("Body").fill(`{"input": "sleep, it's late"}`);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("202 Accepted").waitFor();
  await look(page, "api");
  const { id } = JSON.parse(await page.locator(".answer-body").innerText()) as { id: string };
  const line = await page.locator(".term-line").innerText();
  const again = Bun.spawn(["sh", "-c", line], { stdout: "pipe" });
  expect(await new Response(again.stdout).json()).toMatchObject({ input: "sleep, it's late" });
  await page.getByLabel("Find a route").fill("/events");
  await page.getByRole("link", { name: "GET /runs/{id}/events", exact: true }).click();
  await page.getByLabel("id (path, required)").fill(id);
  await page.getByRole("button", { name: "Send" }).click();
  // The stream goes on for as long as the run does; what has come is there.
  await page.locator(".answer-body").getByText("step-started").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await gateway.engine.cancel(id);
});

test("a flow is put together by keys and fields, drawn, checked, saved and run at once", async () => {
  await using opened = await open("#/build");
  const { page } = opened;
  await page.getByRole("button", { name: "Sequential" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Bad Name");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByLabel("Agent 2").selectOption("echo");
  await page.getByLabel("Instruction 2").fill("Say {previous} again");
  await page.getByRole("button", { name: "Move up: 2" }).press("Enter");
  expect(await page.getByLabel("Agent 1").inputValue()).toBe("echo");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("A flow's name is lower-case words with dashes").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("greet-twice");
  await page.getByLabel("Title").fill("Greet twice");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("It can be saved.").waitFor();
  expect(await page.locator(".graph text").allTextContents()).toEqual(["Task", "Echo", "Greeter", "Answer"]);
  await page.getByLabel("Task", { exact: true }).fill("hello");
  await look(page, "build");
  await page.getByRole("button", { name: "Save and run" }).click();
  await page.getByRole("heading", { name: "hello", level: 1 }).waitFor();
  await page.locator('.head .st[data-state="completed"]').waitFor();
  expect(await toml()).toContain('[flows.greet-twice]\nflow = "sequential"\ntitle = "Greet twice"\n');
  await page.goto(`${gateway.url}/#/build`);
  await page.getByRole("button", { name: "Edit: greet-twice" }).click();
  expect(await page.getByLabel("Instruction 1").inputValue()).toBe("Say {previous} again");
  await page.getByRole("button", { name: "Remove: greet-twice" }).click();
  await page.getByText("Flows you save appear here.").waitFor();
  expect(await toml()).not.toContain("greet-twice");
});

const places = [
  ["settings/model", "Test"],
  ["settings/sandbox", "Test"],
  ["settings/agents", "Open agents"],
  ["settings/servers", "Add a server"],
  ["settings/tokens", "New token"],
  ["settings/memory", "Remember something"],
  ["build", "Check"],
  ["starts", "Add a schedule"],
  ["api?route=post%20%2Fflows%2F%7Bname%7D", "Send"],
] as const;

test.each(["light", "dark"] as const)("axe finds nothing to complain about on these pages, %s", async (colorScheme) => {
  await using opened = await open("", { colorScheme });
  const { page } = opened;
  for (const [place, shown] of places) {
    await page.goto(`${gateway.url}/#/${place}`);
    await page.getByText(shown, { exact: true }).first().waitFor();
    await expectAccessible(page);
    await look(page, `${place.split("?")[0]?.replace("/", "-")}-${colorScheme}`);
  }
});

test("on a phone and in Chinese nothing is wider than the screen", async () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, locale: "zh-CN" };
  await using opened = await open("", phone);
  const { page } = opened;
  for (const [place, name] of [
    ["settings/model", "测试"],
    ["settings/sandbox", "测试"],
    ["settings/servers", "添加服务器"],
    ["settings/tokens", "新建令牌"],
    ["settings/memory", "记住一件事"],
    ["build", "检查"],
    ["starts", "添加定时任务"],
    ["api?route=post%20%2Fflows%2F%7Bname%7D", "发送"],
  ]) {
    await page.goto(`${gateway.url}/#/${place}`);
    await page
      .getByRole("button", { name: name as string })
      .first()
      .waitFor();
    expect([place, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([place, 390]);
    await look(page, `${place?.split("?")[0]?.replace("/", "-")}-phone`);
  }
});

test("what fails in a dialog is told in it, where it is read aloud, and every dialog stands in the middle", async () => {
  await using opened = await open("#/agents");
  const { page } = opened;
  await page.getByRole("button", { name: "Add an agent" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address of the agent or its card").fill("http://127.0.0.1:9/");
  await dialog.getByRole("button", { name: "Add" }).click();
  await dialog.getByRole("alert").getByText("There is no agent").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // It goes on where the page can be read again.
  await page.getByRole("alert").getByText("There is no agent").waitFor();
  const headings = new Set<number | undefined>();
  for (const [place, button] of [
    ["agents", "Add an agent"],
    ["settings/tokens", "New token"],
    ["starts", "Add a schedule"],
  ] as const) {
    await page.goto(`${gateway.url}/#/${place}`);
    await page.getByRole("button", { name: button }).first().click();
    const { y = 0, height = 0 } = (await dialog.boundingBox()) ?? {};
    expect([place, Math.abs(900 - height - 2 * y) < 3]).toEqual([place, true]);
    headings.add((await dialog.getByRole("heading").first().boundingBox())?.height);
    await page.keyboard.press("Escape");
  }
  expect(headings.size).toBe(1);
});
