import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { approvalFlow } from "../testing/approval-flow.ts";
import { type ConsoleBrowser, expectAccessible, openBrowser } from "../testing/console-browser.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const dayMs = 24 * 3_600_000;

let gateway: TestGateway;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [approvalFlow] }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

/** Moves the end of every link, as if that much time had passed. */
async function pass(milliseconds: number): Promise<void> {
  const path = join(gateway.home, "shares.json");
  const { shares } = JSON.parse(await readFile(path, "utf8")) as { shares: { expiresAt: number }[] };
  const moved = shares.map((share) => ({ ...share, expiresAt: share.expiresAt - milliseconds }));
  await writeFile(path, JSON.stringify({ shares: moved }));
}

test("a link works as long as was chosen, says until when, and after that says that it has expired, also where it is open", async () => {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"input": "ask the guests"}' };
  const { id } = (await (await fetch(`${gateway.url}/flows/echo`, init)).json()) as { id: string };
  await using opened = await browser.page(`${gateway.url}/#/runs/${id}`);
  const { page } = opened;
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Share by link" }).click();
  await page.getByLabel("1 day", { exact: true }).check();
  const before = Date.now();
  await page.getByRole("button", { name: "Make a link" }).click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  const { shares } = (await (await fetch(`${gateway.url}/shares?runId=${id}`)).json()) as {
    shares: { expiresAt: string }[];
  };
  expect(Math.round((Date.parse(shares[0]?.expiresAt ?? "") - before) / 60_000)).toBe(dayMs / 60_000);

  await using guest = await browser.page(link);
  await guest.page.getByText(/^Shared to be read until /).waitFor();
  await pass(dayMs - 60_000);
  await guest.page.reload();
  await guest.page.getByRole("heading", { name: "ask the guests", level: 1 }).waitFor();
  await pass(60_000);
  await guest.page.getByText("This link opens nothing.").first().waitFor();
  await guest.page.getByText("has expired").waitFor();
  await guest.page.reload();
  await guest.page.getByText("has expired").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Share by link" }).click();
  await page.getByRole("button", { name: "Make a link" }).waitFor();
  expect(await page.getByText("link works").count()).toBe(0);
});

/** A link to a new run of a flow. */
async function linkTo(flow: string, input: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const headers = { "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return (await (await fetch(`${gateway.url}${path}`, init)).json()) as { id: string; url: string };
  };
  const { id } = await post(`/flows/${flow}`, { input });
  return (await post(`/runs/${id}/shares`, {})).url;
}

test("a guest on a phone reads the answer above the tree, on a screen without unused strips, in a tab that is named", async () => {
  const phone = { viewport: { width: 390, height: 844 } };
  await using guest = await browser.page(await linkTo("echo", "Whales are **mammals**"), phone);
  await guest.page.getByRole("region", { name: "Answer" }).getByText("mammals").waitFor();
  expect(await guest.page.title()).toBe("Whales are **mammals** · Manyhands");
  expect((await guest.page.locator("main").boundingBox())?.height).toBe(844);
  await expectAccessible(guest.page);
});

test("a run that waits for its owner does not tell a guest that it waits for them", async () => {
  await using guest = await browser.page(await linkTo("careful", "Register us"));
  await guest.page.locator('.head .st[data-state="input-required"]').getByText("Waiting for an answer").waitFor();
  expect(await guest.page.getByText("Waiting for you").count()).toBe(0);
});
