import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright";
import { approvalFlow } from "../testing/approval-flow.ts";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";
import { english } from "./words/words-en.ts";
import { chinese } from "./words/words-zh.ts";

const made = "一条给面包店的口号";

/** A flow of the same names in every language, so that what is English on a page is the page's. */
const renamed: TestFlow = {
  runnable: { ...echo, name: "echo-2", kind: "echo-2", title: "回声", description: "重复所说的话。" },
  async execute(run) {
    run.emit({ type: "tool-started", callId: "1", name: "bash", arguments: '{"command":"ls"}' });
    run.emit({ type: "tool-ended", callId: "1", name: "bash", text: "a.csv", isError: false, milliseconds: 5 });
    const parts = [{ type: "text" as const, text: made }];
    run.emit({ type: "artifact-added", artifactId: `${run.id}/answer`, name: "answer", parts });
    return { answer: made };
  },
};

let gateway: TestGateway;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [renamed, approvalFlow] }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

/** The English texts that are others in Chinese. */
function englishOnly(one: unknown, other: unknown): string[] {
  if (typeof one === "string") return one !== other ? [one] : [];
  if (typeof one !== "object" || one === null) return [];
  const pairs = Object.entries(one).map(([key, value]) => englishOnly(value, (other as Record<string, unknown>)[key]));
  return pairs.flat();
}

const inEnglish = new Set(englishOnly(english, chinese));
// The name of the model here.
inEnglish.delete("none");

/** The texts and names of the page that stand in the English table and not in the Chinese one. */
async function leftInEnglish(page: Page): Promise<string[]> {
  const said = (await page.evaluate(`(() => {
    const texts = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) texts.push(walk.currentNode.data.trim());
    for (const one of document.querySelectorAll("[aria-label], [title], [placeholder]"))
      for (const name of ["aria-label", "title", "placeholder"]) texts.push(one.getAttribute(name) ?? "");
    return texts;
  })()`)) as string[];
  return [...new Set(said.filter((text) => inEnglish.has(text)))];
}

/** Waits until the page has drawn what it asked for: it looks the same twice. */
async function settled(page: Page): Promise<void> {
  const look = () => page.locator("main").innerText();
  for (let [before, now] = ["", await look()]; before !== now; [before, now] = [now, await look()])
    await Bun.sleep(150);
}

test("the tables differ, or nothing would be found", () => {
  expect(inEnglish.size).toBeGreaterThan(400);
});

test("in Chinese a task is started, its call allowed, its answer read and its run looked at, with no English left", async () => {
  await using opened = await browser.page(`${gateway.url}/`, { locale: "zh-CN" });
  const { page } = opened;
  await page.getByRole("button", { name: chinese.flowOrAgent }).click();
  await page.getByRole("menuitemradio", { name: "回声" }).click();
  await page.getByLabel(chinese.task, { exact: true }).fill("写一条口号");
  expect(await leftInEnglish(page)).toEqual([]);
  await page.getByRole("button", { name: chinese.start }).click();
  await page.getByText(made).first().waitFor();
  await page.locator('.head .st[data-state="completed"]').waitFor();
  expect(await leftInEnglish(page)).toEqual([]);
  await page.locator(".head").getByRole("link", { name: chinese.openRun }).click();
  await page.getByRole("treeitem", { name: /bash/ }).click();
  await page.getByText("a.csv").first().waitFor();
  expect(await leftInEnglish(page)).toEqual([]);
  for (const tab of [chinese.run.files, chinese.run.live, chinese.run.events]) {
    await page.getByRole("tab", { name: tab }).click();
    expect(await leftInEnglish(page)).toEqual([]);
  }
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"input": "登记"}' };
  await fetch(`${gateway.url}/flows/careful`, init);
  await page.goto(`${gateway.url}/#/waiting`);
  await page.getByRole("button", { name: chinese.allowOnce }).waitFor();
  expect(await leftInEnglish(page)).toEqual([]);
  await page.locator(".ask").focus();
  const card = page.locator(".ask");
  for (const deadline = Date.now() + 30_000; (await card.count()) > 0 && Date.now() < deadline; await Bun.sleep(100))
    await page.keyboard.press("a");
  await page.getByText(chinese.nothingWaits).waitFor();
});

test("every page and every section of the settings is in Chinese", async () => {
  await using opened = await browser.page(`${gateway.url}/`, { locale: "zh-CN" });
  const { page } = opened;
  const sections = Object.keys(english.settingsSections).map((section) => `settings/${section}`);
  for (const place of [
    "",
    "waiting",
    "runs",
    "runs?q=nowhere",
    "agents",
    "build",
    "starts",
    "api",
    "compare",
    "nowhere",
    ...sections,
  ]) {
    await page.goto(`${gateway.url}/#/${place}`);
    await page.locator("main h1, main h2").first().waitFor();
    await settled(page);
    expect([place, await leftInEnglish(page)]).toEqual([place, []]);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  expect(await leftInEnglish(page)).toEqual([]);
});
