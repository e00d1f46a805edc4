import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ModelRequest } from "manyhands/internal/core/model";
import { recordRequest } from "manyhands/internal/core/runs/asked-request";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import type { Page } from "playwright";
import { accessibilityFaults, type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

type Made = { readonly name: string; readonly given: object; readonly text: string; readonly isError?: boolean };

const calls: readonly Made[] = [
  {
    name: "bash",
    given: { command: "make lint test install" },
    text: "\u001b[31mred\u001b[0m\n[exit code 0, 0.1 s, cwd .]",
  },
  {
    name: "sql_query",
    given: { sql: "SELECT 1" },
    text: "| region | sum |\n| --- | ---: |\n| north | 150 |\n| south | 80 |",
  },
  {
    name: "str_replace_editor",
    given: { command: "str_replace", path: "a.py", old_str: "x = 1", new_str: "x = 2" },
    text: "The file a.py has been edited.",
  },
  {
    name: "browser_go_to_url",
    given: { url: "https://shop.example/" },
    text: "The page is now https://shop.example/.",
  },
  { name: "browser_click_element", given: { ref: "e1" }, text: "The click did not reach the button.", isError: true },
];

const usage = {
  inputTokens: 1200,
  cachedInputTokens: 800,
  outputTokens: 40,
  costUsd: 0.0123,
  source: "provider",
} as const;

/** What the model was asked before it called this tool. */
const requestFor = (name: string): ModelRequest => ({
  messages: [
    { role: "system", text: "You are under test." },
    { role: "user", parts: [{ type: "text", text: `Use ${name}.\n<img src=x onerror=alert(1)>` }] },
  ],
  tools: [{ name, description: `What ${name} does.`, inputSchema: { type: "object" } }],
  toolChoice: "auto",
  maxOutputTokens: 4_000,
});

/** Makes a call of every kind, each after a reply of a model that has a price. */
const kinds: TestFlow = {
  runnable: { ...echo, name: "kinds", kind: "kinds", title: "Kinds" },
  async execute(run) {
    for (const [at, { name, given, text, isError = false }] of calls.entries()) {
      const call = { callId: `${at}`, name };
      const asked = { id: call.callId, name, arguments: JSON.stringify(given) };
      const reply = { text: `I use ${name} next.`, toolCalls: [asked], usage, model: "priced", milliseconds: 20 };
      await run.step("model", async ({ emit, key }) => {
        const request = key.slice(key.indexOf("/") + 1);
        emit({ type: "step-started", step: at + 1, maxSteps: 9 });
        emit({ type: "model-replied", ...reply, request });
        return { asked: recordRequest(requestFor(name), request) };
      });
      const events: RunEvent[] = [
        { type: "tool-started", ...call, arguments: asked.arguments },
        { type: "tool-ended", ...call, text, isError, milliseconds: 5 },
      ];
      for (const event of events) run.emit(event);
    }
    return { answer: "done" };
  },
};

let gateway: TestGateway;
let browser: ConsoleBrowser;
let id: string;
beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [kinds] }), openBrowser()]);
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  const init = { method: "POST", headers, body: JSON.stringify({ input: "Do it all" }) };
  id = ((await (await fetch(`${gateway.url}/flows/kinds`, init)).json()) as { id: string }).id;
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

const inspector = (page: Page) => page.getByRole("complementary", { name: "What was done" });
const choose = (page: Page, name: string) => page.getByRole("treeitem", { name: new RegExp(name) }).click();

test("each call is shown as what it is: a terminal, a table, a change, steps of a browser, an error in its place", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${id}`);
  const { page } = opened;
  await choose(page, "bash");
  await inspector(page).getByText("red", { exact: true }).waitFor();
  expect(await inspector(page).innerText()).not.toContain("[31m");
  await choose(page, "sql_query");
  await inspector(page).getByRole("columnheader", { name: "region" }).waitFor();
  await inspector(page).getByRole("cell", { name: "150" }).waitFor();
  await choose(page, "str_replace_editor");
  await inspector(page).getByText("x = 2").waitFor();
  await choose(page, "browser_go_to_url");
  const film = inspector(page).getByRole("region", { name: "Film strip" });
  await film.getByRole("button").nth(1).waitFor();
  expect(await film.getByRole("button").count()).toBe(2);
  await film.getByRole("button").nth(1).click();
  await inspector(page).getByText("The click did not reach the button.").first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});

test("a row of the tree cuts nothing that has room, and what it marks keeps clear of the bars", async () => {
  for (const width of [1280, 390]) {
    await using opened = await browser.page(`${gateway.url}/#/runs/${id}`, { viewport: { width, height: 800 } });
    const row = (name: string) => opened.page.getByRole("treeitem", { name: new RegExp(name) });
    const hint = row("bash").locator(".end");
    await hint.getByText("make lint test install").waitFor();
    const [needs, has] = await hint.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth] as const);
    if (width === 1280) expect(needs).toBeLessThanOrEqual(has);
    const failed = await row("browser_click_element").locator(".end").boundingBox();
    const bars = await row("browser_click_element").locator(".lane").boundingBox();
    expect((failed?.x ?? 0) + (failed?.width ?? 0)).toBeLessThanOrEqual(bars?.x ?? 0);
    // A short title leaves no gap before its state.
    const title = await opened.page.locator("h1").boundingBox();
    const state = await opened.page.locator(".head .st").boundingBox();
    if (width === 1280) expect((state?.x ?? 0) - (title?.x ?? 0) - (title?.width ?? 0)).toBeLessThan(20);
  }
});

test("what a step cost, what its model read from the cache, and what it replied are beside the call", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${id}`);
  const { page } = opened;
  await page.getByText("$0.06").first().waitFor();
  await choose(page, "sql_query");
  await inspector(page).getByText("1,200 tokens, 800 cached").waitFor();
  await inspector(page).getByText("$0.01", { exact: false }).first().waitFor();
  await inspector(page).getByRole("button", { name: "Show request and reply" }).click();
  await inspector(page).getByText("I use sql_query next.").waitFor();
});

test("what its model was asked is shown word for word: each message, the tools and the settings", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${id}`);
  const { page } = opened;
  await choose(page, "sql_query");
  await inspector(page).getByRole("button", { name: "Show request and reply" }).click();
  await inspector(page).getByText("Request: 2 messages").waitFor();
  await inspector(page).getByText("Use sql_query.").click();
  await inspector(page).locator("pre", { hasText: "Use sql_query.\n<img src=x onerror=alert(1)>" }).waitFor();
  await inspector(page).getByText("Tools offered: 1").click();
  await inspector(page).locator("pre", { hasText: "What sql_query does." }).waitFor();
  await inspector(page).getByText("Settings", { exact: true }).click();
  await inspector(page).locator("pre", { hasText: '"maxOutputTokens": 4000' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});
