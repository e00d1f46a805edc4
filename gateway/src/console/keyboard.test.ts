import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright";
import { approvalFlow } from "../testing/approval-flow.ts";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

let gateway: TestGateway;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [approvalFlow] }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

/** More presses of Tab than any page needs. */
const maxTabs = 60;

/** The name of what has the focus, as assistive software reads it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(
    `(({ labels, innerText }, label) => label ?? labels?.[0]?.innerText ?? innerText)(
      document.activeElement, document.activeElement.getAttribute("aria-label"))`,
  );

/** Goes on with Tab until what has the focus is named so. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  while (passed.length < maxTabs) {
    await page.keyboard.press("Tab");
    const here = (await focused(page)).trim();
    if (name.test(here)) return;
    passed.push(here.slice(0, 40));
  }
  throw new Error(`Tab never came to ${name}, but to ${passed.join(" | ")}`);
}

/** Presses a key until `isDone`: a card ignores presses right after it appeared. */
async function pressUntil(page: Page, key: string, isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await isDone()); await Bun.sleep(100)) {
    if (Date.now() > deadline) throw new Error(`${key} had no effect`);
    await page.keyboard.press(key);
  }
}

const state = (page: Page, name: string) => page.locator(`.head .st[data-state="${name}"]`).waitFor();

/** Presses the keys of the palette, and chooses the command. */
async function command(page: Page, name: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type(name);
  await page.getByRole("option", { name, selected: true }).waitFor();
  await page.keyboard.press("Enter");
}

test("the first Tab offers to skip the navigation, and from there Tab goes on in the page", async () => {
  await using opened = await browser.page(`${gateway.url}/#/agents`);
  const { page } = opened;
  const skip = page.getByRole("button", { name: "Skip to content" });
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  const above = await skip.boundingBox();
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(0);
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to content");
  expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.querySelector('main').contains(document.activeElement)")).toBe(true);
});

test("without a mouse a task is started with a flow, its question answered, and its answer read", async () => {
  await using opened = await browser.page(`${gateway.url}/#/agents`);
  const { page } = opened;
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await command(page, "New task: Echo");
  await page.getByRole("heading", { name: "What needs doing?" }).waitFor();
  await tabTo(page, /^Task$/);
  await page.keyboard.type("ask how warm it is");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Really?").waitFor();
  await tabTo(page, /^Your answer$/);
  await page.keyboard.type("It is warm.");
  await pressUntil(page, "Control+Enter", async () => (await page.getByLabel("Your answer").count()) === 0);
  await state(page, "completed");
  await page.locator(".answered", { hasText: "Really?" }).waitFor();
});

test("without a mouse a call is allowed from the list of what waits, and what it did is found and opened", async () => {
  await using opened = await browser.page(`${gateway.url}/`);
  const { page } = opened;
  await page.getByRole("heading", { name: "What needs doing?" }).waitFor();
  await tabTo(page, /^Flow or agent$|Echo/);
  await page.keyboard.press("Enter");
  await page.getByRole("menuitemradio", { name: "Careful" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await pressUntil(page, "ArrowDown", async () => (await focused(page)).startsWith("Careful"));
  await page.keyboard.press("Enter");
  await tabTo(page, /^Skip to content$/);
  await tabTo(page, /^Task$/);
  await page.keyboard.type("Register us at the harbour");
  await page.keyboard.press("Control+Enter");
  await page.locator(".ask").waitFor();
  await command(page, "Go to Waiting for you");
  await page.getByRole("heading", { name: "Waiting for you", level: 1 }).waitFor();
  const card = page.locator(".ask");
  await card.waitFor();
  await tabTo(page, /^Allow once/);
  await pressUntil(page, "a", async () => (await card.count()) === 0);
  await page.getByText("Nothing waits for you").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("harbour");
  await page.locator("mark", { hasText: "harbour" }).first().waitFor();
  await tabTo(page, /^Register us at the harbour$/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Register us at the harbour", level: 1 }).waitFor();
  await state(page, "completed");
  await page.keyboard.press("j");
  await page.getByRole("complementary", { name: "What was done" }).getByText("It was sent.").first().waitFor();
});

test("the list of keys opens with its key and closes; single keys do nothing once they are turned off", async () => {
  await using opened = await browser.page(`${gateway.url}/#/settings/appearance`);
  const { page } = opened;
  const choice = page.getByLabel("Single keys act");
  await choice.waitFor();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "All keys" });
  await keys.getByText("Command palette").waitFor();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "detached" });
  await choice.uncheck();
  await page.getByRole("heading", { name: "Appearance" }).click();
  await page.keyboard.press("n");
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  expect(await keys.count()).toBe(0);
  expect(new URL(page.url()).hash).toBe("#/settings/appearance");
});

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64)", "Ctrl K", "Ctrl ⏎"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "⌘K", "⌘⏎"],
])("keys are shown as the keyboard of the machine has them: %s", async (userAgent, palette, send) => {
  await using opened = await browser.page(`${gateway.url}/`, { userAgent });
  const { page } = opened;
  await page.getByRole("button", { name: "Start" }).locator("kbd", { hasText: send }).waitFor();
  await page.getByRole("navigation", { name: "Main" }).locator("kbd", { hasText: palette }).waitFor();
  await page.keyboard.press("?");
  const shown = page.getByRole("dialog", { name: "All keys" }).locator("kbd");
  await shown.first().waitFor();
  expect(await shown.allTextContents()).toEqual(expect.arrayContaining([palette, send]));
});
