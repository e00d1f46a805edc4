import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright";
import { accessibilityFaults, type ConsoleBrowser, openBrowser } from "../../gateway/src/testing/console-browser.ts";
import { until } from "../servers/gateway-server.ts";
import { type LivePlace, startLivePlace } from "../servers/live-page.ts";

const secret = "s3cret-word";

let place: LivePlace;
let browser: ConsoleBrowser;

beforeAll(async () => {
  place = await startLivePlace();
  browser = await openBrowser();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await place?.[Symbol.asyncDispose]();
});

const phase = (page: Page, name: string) => page.locator(`[data-live="${name}"]`).waitFor();
const picture = (page: Page) => page.locator("[data-live] img");

/** Clicks at a place of the agent's page, on its picture. */
async function clickAt(page: Page, x: number, y: number): Promise<void> {
  await picture(page).scrollIntoViewIfNeeded();
  const shown = await picture(page).boundingBox();
  const natural = await picture(page).evaluate(
    (element) => (element as unknown as { naturalWidth: number }).naturalWidth,
  );
  if (shown === null) throw new Error("there is no picture");
  const scale = shown.width / natural;
  await page.mouse.click(shown.x + x * scale, shown.y + y * scale);
}

test("a person watches an agent's page, takes it over, signs in, hands it back, and the agent goes on with what is there", async () => {
  const { gateway, site, model } = place;
  const run = await place.ask();
  await using opened = await browser.page(`${gateway.url}/#/c/${run.contextId}`);
  const { page } = opened;
  await page.getByRole("link", { name: "Take over" }).click();
  await phase(page, "watching");
  await picture(page).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Take over" }).click();
  await phase(page, "held");
  await clickAt(page, 60, 115);
  await page.keyboard.type("ann");
  await page.reload();
  await phase(page, "held");
  await picture(page).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.locator("[data-live-screen]").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.type(secret);
  await page.keyboard.press("Enter");
  await until(async () => site.requests.some(({ url }) => url.pathname === "/in"));
  expect(site.requests.find(({ url }) => url.pathname === "/in")?.body).toBe(`who=ann&word=${secret}`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  // What was asked is answered with it.
  await phase(page, "ended");
  await until(async () => (await gateway.call(`/runs/${run.id}`)).body.status === "completed");
  const { answer } = (await gateway.call(`/runs/${run.id}`)).body;
  expect(JSON.stringify(answer)).toMatch(/Welcome \d+\. A person used the browser for \d+ s\./);
  const journal = await (await fetch(`${gateway.url}/runs/${run.id}/export`)).text();
  expect(journal + JSON.stringify(model.requests)).not.toContain(secret);
  expect(JSON.stringify(model.requests)).toContain("A person used the browser");
}, 240_000);

test("on a phone, dark and in Chinese, the page can be taken and typed into, and nothing scrolls sideways", async () => {
  const { gateway } = place;
  const run = await place.ask();
  const look = { viewport: { width: 390, height: 844 }, colorScheme: "dark", locale: "zh-CN" } as const;
  await using opened = await browser.page(`${gateway.url}/#/runs/${run.id}/live`, look);
  const { page } = opened;
  await picture(page).waitFor();
  await page.getByRole("button", { name: "接管" }).click();
  await phase(page, "held");
  await clickAt(page, 60, 115);
  const before = await picture(page).getAttribute("src");
  await page.getByRole("textbox", { name: "输入到当前字段" }).fill("安娜");
  await page.getByRole("button", { name: "输入", exact: true }).click();
  await until(async () => (await picture(page).getAttribute("src")) !== before);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  const [panel, steps] = await Promise.all(
    ["[data-live]", ".live-calls"].map((one) => page.locator(one).boundingBox()),
  );
  expect(steps?.y ?? 0).toBeGreaterThanOrEqual((panel?.y ?? 0) + (panel?.height ?? 0));
  await gateway.call(`/runs/${run.id}/cancel`, {});
  await phase(page, "ended");
}, 240_000);
