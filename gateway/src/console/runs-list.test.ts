import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import type { Page } from "playwright";
import { serveCard } from "../testing/card-server.ts";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

const usage = { inputTokens: 900, cachedInputTokens: 0, outputTokens: 60, costUsd: 2, source: "provider" } as const;

/** A flow that costs two dollars, asks Greeter and calls a tool. */
const dear: TestFlow = {
  runnable: { ...echo, name: "dear", kind: "dear", title: "Dear" },
  async execute(run) {
    const ask = { askId: `${run.id}/1`, agent: "greeter" };
    const parts = [{ type: "text", text: "Weigh the parcel" }] as const;
    const command = JSON.stringify({ command: "weigh parcel-77" });
    const call = { id: "c", name: "bash", arguments: command };
    const events: RunEvent[] = [
      { type: "model-replied", text: "I weigh it.", toolCalls: [call], usage, model: "priced", milliseconds: 20 },
      { type: "tool-started", callId: "c", name: "bash", arguments: command },
      { type: "tool-ended", callId: "c", name: "bash", text: "1.2 kg", isError: false, milliseconds: 5 },
      { type: "agent-asked", ...ask, url: "http://127.0.0.1:1", text: "Weigh", parts, hops: 1 },
      { type: "agent-answered", ...ask, state: "completed", files: [] },
      {
        type: "artifact-added",
        artifactId: `${run.id}/answer`,
        name: "answer",
        parts: [{ type: "text", text: "It weighs twelve hundred grams." }],
      },
    ];
    for (const event of events) run.emit(event);
    return { answer: "" };
  },
};

let gateway: TestGateway;
let browser: ConsoleBrowser;
let greeter: ReturnType<typeof serveCard>;

beforeAll(async () => {
  greeter = serveCard("Greeter");
  [gateway, browser] = await Promise.all([startGateway({ flows: [dear] }), openBrowser()]);
  await gateway.registry.add({ url: greeter.url, name: "greeter" });
  await start("echo", "Count the whales");
  await start("echo", "fail at the harbour");
  await start("echo", "ask for the tide", false);
  await start("dear", "Ship the parcel");
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose](), greeter?.[Symbol.asyncDispose]()]));

async function start(flow: string, input: string, waits = true): Promise<string> {
  const headers = { "Content-Type": "application/json", ...(waits && { Prefer: "wait=20" }) };
  const init = { method: "POST", headers, body: JSON.stringify({ input }) };
  return ((await (await fetch(`${gateway.url}/flows/${flow}`, init)).json()) as { id: string }).id;
}

const four = ["Ship the parcel", "ask for the tide", "fail at the harbour", "Count the whales"];

/** Waits until the list is of these tasks. */
async function lists(page: Page, ...tasks: readonly string[]): Promise<void> {
  const read = () => page.locator("[data-run] a").allInnerTexts();
  for (const deadline = Date.now() + 30_000; ; await Bun.sleep(50)) {
    const shown = await read();
    if (shown.toSorted().join("\n") === tasks.toSorted().join("\n")) return;
    if (Date.now() > deadline) expect(shown.toSorted()).toEqual(tasks.toSorted());
  }
}

async function choose(page: Page, filter: string, choice: string): Promise<void> {
  await page.locator(".filters").getByRole("button", { name: filter }).click();
  await page.getByRole("menuitemradio", { name: choice, exact: true }).click();
}

test("each filter narrows the list to its runs, stands in the address, and is taken away again", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  await lists(page, ...four);
  for (const [filter, choice, ...tasks] of [
    ["State", "Failed", "fail at the harbour"],
    ["State", "Waiting for you", "ask for the tide"],
    ["Flow or agent", "Dear", "Ship the parcel"],
    ["Worked on by", "Greeter", "Ship the parcel"],
    ["Cost", "Over $1", "Ship the parcel"],
    ["Any time", "Last 24 hours", ...four],
  ] as const) {
    await choose(page, filter, choice);
    await lists(page, ...tasks);
    expect(new URL(page.url()).hash).toContain("?");
    await page.reload();
    await lists(page, ...tasks);
    await choose(page, filter, `Clear ${filter}`);
    await lists(page, ...four);
    expect(new URL(page.url()).hash).toBe("#/runs");
  }
});

test("filters together narrow further, one that nothing fits says so, and all are cleared at once", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  await lists(page, ...four);
  await choose(page, "Flow or agent", "Echo");
  await lists(page, ...four.slice(1));
  await choose(page, "State", "Completed");
  await lists(page, "Count the whales");
  await choose(page, "Cost", "Over $10");
  await page.getByText("No run matches.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await lists(page, ...four);
});

test("runs of the last 24 hours are those since yesterday at this time", async () => {
  await using opened = await browser.page(`${gateway.url}/#/waiting`);
  const { page } = opened;
  await page.clock.install({ time: Date.now() + 2 * 24 * 3_600_000 });
  await page.goto(`${gateway.url}/#/runs?days=1`);
  await page.getByText("No run matches.").waitFor();
  await choose(page, "Any time", "Last 7 days");
  await lists(page, ...four);
});

test("a run is found by its task, its answer, a call, its result and why it failed, and the row shows where", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  await lists(page, ...four);
  await page.keyboard.press("/");
  for (const [query, task, marked] of [
    ["whales", "Count the whales", "whales"],
    ["twelve hundred", "Ship the parcel", "twelve"],
    ["parcel-77", "Ship the parcel", "parcel-77"],
    ["1.2 kg", "Ship the parcel", "1.2"],
    ["told to fail", "fail at the harbour", "told"],
  ] as const) {
    await page.keyboard.press("Control+a");
    await page.keyboard.type(query);
    await page.locator("mark", { hasText: marked }).first().waitFor();
    await lists(page, task);
  }
});

test("a search that is left, by a view or by clearing, leaves the field empty too", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  await lists(page, ...four);
  const field = page.getByRole("searchbox", { name: /Search tasks/ });
  await field.fill("whales");
  await lists(page, "Count the whales");
  await page.locator(".views").getByRole("link", { name: "All" }).click();
  await lists(page, ...four);
  expect(await field.inputValue()).toBe("");
  await field.fill("nowhere");
  await page.getByText("No run matches.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await lists(page, ...four);
  expect(await field.inputValue()).toBe("");
});

test("the views that are there list what waits, what failed and what was dear", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  const views = page.locator(".views");
  for (const [view, ...tasks] of [
    ["Waiting for you", "ask for the tide"],
    ["Failed", "fail at the harbour"],
    ["Over $1", "Ship the parcel"],
    ["All", ...four],
  ] as const) {
    await views.getByRole("link", { name: view }).click();
    await lists(page, ...tasks);
    expect(await views.locator("[aria-current]").innerText()).toBe(view);
  }
});

test("what is selected is what the list shows: a filter that hides a run takes it out of the selection", async () => {
  await using opened = await browser.page(`${gateway.url}/#/runs`);
  const { page } = opened;
  await lists(page, ...four);
  for (const task of ["Count the whales", "fail at the harbour"])
    await page.locator("[data-run]", { hasText: task }).getByRole("checkbox").click();
  await page.getByRole("toolbar", { name: "2 selected" }).waitFor();
  await choose(page, "State", "Failed");
  await lists(page, "fail at the harbour");
  await page.getByRole("toolbar", { name: "1 selected" }).waitFor();
  await choose(page, "State", "Completed");
  await lists(page, "Count the whales", "Ship the parcel");
  await page.getByRole("toolbar", { name: "1 selected" }).waitFor();
  await choose(page, "State", "Waiting for you");
  await lists(page, "ask for the tide");
  await page.getByRole("toolbar").waitFor({ state: "detached" });
});

test("runs are deleted from the list and from their page, asked once by name; one that goes on is not", async () => {
  const ids = await Promise.all(["first to go", "second to go", "third to go"].map((task) => start("echo", task)));
  await using opened = await browser.page(`${gateway.url}/#/runs?q=to+go`);
  const { page } = opened;
  await lists(page, "first to go", "second to go", "third to go");
  for (const id of ids.slice(0, 2)) await page.locator(`[data-run="${id}"]`).getByRole("checkbox").click();
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("first to go").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await page.locator("[data-run]").count()).toBe(3);
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await lists(page, "third to go");
  await page.locator("[data-run] a").click();
  await page.getByRole("heading", { name: "third to go", level: 1 }).waitFor();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/#\/runs$/);
  await lists(page, ...four);
  const left = await Promise.all(ids.map(async (id) => (await fetch(`${gateway.url}/runs/${id}`)).status));
  expect(left).toEqual([404, 404, 404]);
  await page.locator("[data-run]", { hasText: "ask for the tide" }).getByRole("checkbox").click();
  expect(await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
});

test("the events that a run's page saves are the file that the route gives", async () => {
  const id = await start("echo", "keep me");
  const whole = await (await fetch(`${gateway.url}/runs/${id}/export`)).text();
  expect(whole.trim().split("\n").length).toBeGreaterThan(2);
  await using opened = await browser.page(`${gateway.url}/#/runs/${id}`);
  const { page } = opened;
  const saved = async (press: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    expect(download.suggestedFilename()).toBe(`run-${id}.jsonl`);
    return Bun.file(await download.path()).text();
  };
  await page.getByRole("button", { name: "More" }).click();
  expect(await saved(() => page.getByRole("menuitem", { name: "Export" }).click())).toBe(whole);
  await page.goto(`${gateway.url}/#/runs?q=keep`);
  await page.locator(`[data-run="${id}"]`).getByRole("checkbox").click();
  const bar = page.getByRole("toolbar");
  expect(await saved(() => bar.getByRole("button", { name: "Export" }).click())).toBe(whole);
  await fetch(`${gateway.url}/runs/${id}`, { method: "DELETE" });
});

test("a list that is longer than a page goes on with a press, and no run comes twice", async () => {
  await using many = await startGateway();
  const count = 57;
  for (let n = 1; n <= count; n++)
    await fetch(`${many.url}/flows/echo`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ input: `task ${n}` }),
    });
  await using opened = await browser.page(`${many.url}/#/runs`);
  const { page } = opened;
  const rows = page.locator("[data-run]");
  await rows.nth(49).waitFor();
  expect(await rows.count()).toBe(50);
  await page.locator(".head").getByText(`${count}`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await rows.nth(count - 1).waitFor();
  const ids = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-run")));
  expect(new Set(ids).size).toBe(count);
  expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
  // Where only the newest are offered, the page says how to get at the others.
  await rows.first().getByRole("link").click();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Compare with another run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("These are the newest.").waitFor();
  await dialog.getByRole("link", { name: "Runs", exact: true }).click();
  for (const n of [0, 49]) await rows.nth(n).getByRole("checkbox").click();
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByRole("heading", { name: "Compare two runs" }).waitFor();
});
