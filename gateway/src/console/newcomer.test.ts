import { afterAll, beforeAll, expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { Run, RunEvent } from "manyhands/internal/core/runs/run";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

const dayMs = 24 * 3_600_000;
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const reason = "The table has no column called revenue.\nThe columns are region and sum.";
const usage = { inputTokens: 900, cachedInputTokens: 0, outputTokens: 60, costUsd: 0.25, source: "provider" } as const;

function call(run: Run, callId: string, name: string, given: object, text: string): void {
  const asked = { id: callId, name, arguments: JSON.stringify(given) };
  const events: RunEvent[] = [
    { type: "model-replied", text: "", toolCalls: [asked], usage, model: "priced", milliseconds: 20 },
    { type: "tool-started", callId, name, arguments: asked.arguments },
    { type: "tool-ended", callId, name, text, isError: false, milliseconds: 5 },
  ];
  for (const event of events) run.emit(event);
}

/** A flow that writes a file in two calls of a model that has a price; told to fail, it does. */
const writer: TestFlow = {
  runnable: { ...echo, name: "writer", kind: "writer", title: "Writer" },
  async execute(run, input) {
    const [part] = (input as { message: { parts: { text?: string }[] } }).message.parts;
    call(run, "1", "bash", { command: "head orders.csv" }, "region,sum");
    call(run, "2", "str_replace_editor", { command: "create", path: "out/report.md", file_text: "# R\n" }, "Created.");
    if (part?.text?.startsWith("fail") === true) throw new AppError("task_failed", reason);
    const parts = [{ type: "text" as const, text: "## The report\n\n- It is in **out/report.md**." }];
    run.emit({ type: "artifact-added", artifactId: `${run.id}/answer`, name: "answer", parts });
    return { answer: "" };
  },
};

let gateway: TestGateway;
let browser: ConsoleBrowser;
let failed: string;
let done: string;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [writer] }), openBrowser()]);
  failed = await start("fail at the report");
  done = await start("Write the report");
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

async function start(input: string): Promise<string> {
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  const init = { method: "POST", headers, body: JSON.stringify({ input }) };
  return ((await (await fetch(`${gateway.url}/flows/writer`, init)).json()) as { id: string }).id;
}

test.each([
  ["a wide screen", {}],
  ["a phone", phone],
])("why a run failed is on its page at once, in a sentence and in full, on %s", async (_, look) => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${failed}`, look);
  const { page } = opened;
  const shown = (text: string) => page.getByText(text, { exact: true }).filter({ visible: true }).waitFor();
  await shown("The table has no column called revenue.");
  await shown(reason);
  // It is the run's failure: no model was told it.
  expect(await page.getByText("What the model was told").count()).toBe(0);
  const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  expect(wide).toBe(false);
});

test("which file was changed is named, and leads to the call that changed it, which says what it cost", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${done}`);
  const { page } = opened;
  const inspector = page.getByRole("complementary", { name: "What was done" });
  await inspector.getByText("$0.50").waitFor();
  await inspector.getByRole("button", { name: "out/report.md" }).click();
  await inspector.getByRole("heading", { name: "str_replace_editor" }).waitFor();
  await inspector.getByText("# R", { exact: true }).waitFor();
  await inspector.getByText("$0.25").first().waitFor();
});

test("the drawing of a run is its flow's, whether it asked agents or not", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${failed}`);
  const { page } = opened;
  await page
    .getByRole("treeitem", { name: /writer/ })
    .locator(".ag.flow")
    .waitFor();
  await page.goto(`${gateway.url}/#/runs`);
  await page.locator(`[data-run="${failed}"] .ag.flow`).waitFor();
});

test("a row of the list says the answer in plain words", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  await page.locator(`[data-run="${done}"]`).getByText("The report It is in out/report.md.", { exact: true }).waitFor();
});

test("yesterday's task is found in the list, continued from there, and goes on in its conversation", async () => {
  await using opened = await browser.page(`${gateway.url}/#/waiting`);
  const { page } = opened;
  await page.clock.install({ time: Date.now() + dayMs });
  await page.goto(`${gateway.url}/#/runs`);
  const row = page.locator(`[data-run="${done}"]`);
  await row.getByText("1 d ago").waitFor();
  await row.getByRole("link").click();
  await page.locator("header").getByRole("link", { name: "Continue" }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Write the report").first().waitFor();
  await page.getByLabel("Message", { exact: true }).fill("And now in French");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".run-thread").nth(1).getByText("And now in French").first().waitFor();
});

test("on a phone the title of a page is one line, within its bar", async () => {
  await using opened = await browser.page(`${gateway.url}/#/build`, phone);
  const { page } = opened;
  for (const [place, title] of [
    ["starts", "Schedules and triggers"],
    [`compare?a=${done}&b=${failed}`, "Compare two runs"],
    ["settings/model", "Settings"],
  ]) {
    await page.goto(`${gateway.url}/#/${place}`);
    const heading = page.getByRole("heading", { name: title as string, level: 1 });
    await heading.waitFor();
    expect([title, ((await heading.boundingBox())?.height ?? 0) <= 24]).toEqual([title, true]);
  }
});
