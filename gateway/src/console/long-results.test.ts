import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import type { Page } from "playwright";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

const lines = (count: number, line: string) =>
  Array.from({ length: count }, (_, at) => `${line} ${at + 1}.`).join("\n");

const calls = [
  { name: "bash", given: { command: "make" }, text: lines(500, "built") },
  {
    name: "str_replace_editor",
    given: { command: "create", path: "long.txt", file_text: lines(2_500, "written") },
    text: "File created.",
  },
  { name: "sql_query", given: { sql: "SELECT 1" }, text: `name | n\n${lines(700, "row |").replaceAll(".", "")}` },
  { name: "read_log", given: { path: "log" }, text: lines(30_000, "logged") },
] as const;

/** A flow whose calls give more than is shown at once. */
const wordy: TestFlow = {
  runnable: { ...echo, name: "wordy", kind: "wordy", title: "Wordy" },
  async execute(run) {
    for (const [at, { name, given, text }] of calls.entries()) {
      const call = { callId: `${at}`, name };
      const events: RunEvent[] = [
        { type: "tool-started", ...call, arguments: JSON.stringify(given) },
        { type: "tool-ended", ...call, text, isError: false, milliseconds: 5 },
      ];
      for (const event of events) run.emit(event);
    }
    return { answer: "" };
  },
};

let gateway: TestGateway;
let browser: ConsoleBrowser;
let run: { readonly id: string; readonly contextId: string };

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [wordy] }), openBrowser()]);
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  const init = { method: "POST", headers, body: JSON.stringify({ input: "Say it all" }) };
  run = (await (await fetch(`${gateway.url}/flows/wordy`, init)).json()) as typeof run;
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

const inspector = (page: Page) => page.getByRole("complementary", { name: "What was done" });

test.each([
  ["the output of a command", "bash", ".term", "built 1.", "built 500."],
  ["a change of a file", "str_replace_editor", ".diff", "written 2500.", "written 1."],
  ["a table", "sql_query", "table", "700", "500"],
  ["a text", "read_log", ".code", "logged 30000.", "logged 1."],
])("%s that is cut says so, and is shown whole on a press", async (_, name, place, hidden, shown) => {
  await using opened = await browser.page(`${gateway.url}/#/runs/${run.id}`);
  const { page } = opened;
  await page.getByRole("treeitem", { name: new RegExp(name) }).click();
  const result = inspector(page).locator(place);
  await result.filter({ hasText: shown }).first().waitFor();
  expect(await result.first().textContent()).not.toContain(hidden);
  await inspector(page).getByRole("button", { name: "Show all" }).click();
  await result.filter({ hasText: hidden }).first().waitFor();
  expect(await inspector(page).getByRole("button", { name: "Show all" }).count()).toBe(0);
});

test("a long result in a conversation is shown whole on a press", async () => {
  await using opened = await browser.page(`${gateway.url}/#/c/${run.contextId}`);
  const { page } = opened;
  await page.getByRole("button", { name: "4 calls" }).click();
  const call = page.locator(".call", { hasText: "read_log" });
  await call.locator("summary").click();
  const result = call.locator(".code").last();
  await result.filter({ hasText: "logged 1." }).waitFor();
  expect(await result.textContent()).not.toContain("logged 30000.");
  await call.getByRole("button", { name: "Show all" }).click();
  await result.filter({ hasText: "logged 30000." }).waitFor();
});
