import { afterAll, beforeAll, expect, test } from "bun:test";
import { askPerson } from "manyhands/internal/core/tools/question";
import type { Page } from "playwright";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

/** A flow that spends forty cents each time before it asks whether to go on. */
const spender: TestFlow = {
  runnable: { ...echo, name: "spender", kind: "spender", title: "Spender" },
  async execute(run) {
    for (const more of ["More?", "Still more?"]) {
      const usage = {
        inputTokens: 900,
        cachedInputTokens: 0,
        outputTokens: 60,
        costUsd: 0.41,
        source: "provider",
      } as const;
      run.emit({ type: "model-replied", text: "I think.", toolCalls: [], usage, model: "priced", milliseconds: 20 });
      await askPerson(run, { question: more, kind: "question" });
    }
    return { answer: "" };
  },
};

let gateway: TestGateway;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [spender] }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

const headers = { "Content-Type": "application/json" };
const answer = (id: string) =>
  fetch(`${gateway.url}/runs/${id}/answer`, { method: "POST", headers, body: '{"input": "yes"}' });

/** Waits until a meter shows this sum of this limit, filled so far. */
async function meter(page: Page, place: string, said: string, share: number): Promise<void> {
  const at = page.locator(place, { hasText: said });
  await at.locator(".meter").waitFor();
  const filled = await at.locator(".meter").evaluate((bar) => {
    const { children, clientWidth } = bar as unknown as { children: { clientWidth: number }[]; clientWidth: number };
    return (children[0]?.clientWidth ?? 0) / clientWidth;
  });
  expect(Math.abs(filled - share)).toBeLessThan(0.05);
}

test("what a task has spent of its limit is a meter that moves as it spends, in the run, the list and the conversation", async () => {
  await using opened = await browser.page(`${gateway.url}/`);
  const { page } = opened;
  await page.getByRole("button", { name: "Flow or agent" }).click();
  await page.getByRole("menuitemradio", { name: "Spender" }).click();
  await page.getByRole("button", { name: "Spending limit" }).click();
  await page.getByRole("spinbutton", { name: "Spending limit" }).fill("1");
  await page.keyboard.press("Escape");
  await page.getByLabel("Task", { exact: true }).fill("Spend");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("More?").waitFor();
  const spent = '[aria-label="Spent"]';
  await meter(page, spent, "$0.41 of $1.00", 0.41);
  const { runs } = (await (await fetch(`${gateway.url}/runs`)).json()) as { runs: { id: string }[] };
  const id = runs[0]?.id ?? "";
  await answer(id);
  await meter(page, spent, "$0.82 of $1.00", 0.82);
  await page.goto(`${gateway.url}/#/runs`);
  await meter(page, `[data-run="${id}"]`, "$0.82 of $1.00", 0.82);
  await page.goto(`${gateway.url}/#/runs/${id}`);
  await meter(page, ".stats", "$0.82 of $1.00", 0.82);
});

test("the meter of a run that is open moves with each call of its model, and warns near the limit", async () => {
  const init = { method: "POST", headers, body: JSON.stringify({ input: "Spend", budget: { usd: 1 } }) };
  const { id } = (await (await fetch(`${gateway.url}/flows/spender`, init)).json()) as { id: string };
  await using opened = await browser.page(`${gateway.url}/#/runs/${id}`);
  const { page } = opened;
  await meter(page, ".stats", "$0.41 of $1.00", 0.41);
  expect(await page.locator(".stats .meter .near").count()).toBe(0);
  await answer(id);
  await meter(page, ".stats", "$0.82 of $1.00", 0.82);
  expect(await page.locator(".stats .meter .near").count()).toBe(1);
});
