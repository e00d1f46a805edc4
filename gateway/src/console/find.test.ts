import { afterAll, beforeAll, expect, test } from "bun:test";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import type { Browser, Page } from "playwright";
import { expectAccessible, stillPage } from "../testing/console-browser.ts";
import { consoleFixture } from "../testing/console-fixture.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

const waitMs = Number(process.env.FIND_WAIT ?? 60_000);

/** A flow that makes the same call three times; what it is told is one more call. */
const again: TestFlow = {
  runnable: { ...echo, name: "again", kind: "again", title: "Again" },
  async execute(run, input) {
    const [part] = (input as { message: { parts: { type: string; text?: string }[] } }).message.parts;
    for (const [at, command] of ["ls", "ls", "ls", part?.text ?? ""].entries()) {
      const call = { callId: `${at}`, name: "bash" };
      run.emit({ type: "tool-started", ...call, arguments: JSON.stringify({ command }) });
      run.emit({ type: "tool-ended", ...call, text: `did ${command}`, isError: false, milliseconds: 1 });
      await run.sleep(40);
    }
    return { answer: part?.text ?? "" };
  },
};

let browser: Browser;
let gateway: TestGateway;
beforeAll(async () => {
  browser = await startChromium();
  gateway = await startGateway({
    token: "t",
    flows: [consoleFixture, again],
    app: { changePace: { gapMs: 50, agentsEveryMs: 200, heartbeatMs: 5_000 } },
  });
});
afterAll(async () => {
  await browser?.close();
  await gateway[Symbol.asyncDispose]();
});

/** A browser in which `who` has given the token; what it asked for is in `asked`. */
async function openAs(who: string | undefined, look: Parameters<Browser["newContext"]>[0] = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...stillPage, ...look });
  context.setDefaultTimeout(waitMs);
  const asked: string[] = [];
  const faults: string[] = [];
  context.on("request", (request) => asked.push(request.url().slice(gateway.url.length)));
  context.on("weberror", (error) => faults.push(String(error.error())));
  context.on("console", (message) => message.text().includes("Content Security") && faults.push(message.text()));
  if (who !== undefined)
    await context.addInitScript(
      `if (location.protocol === "http:") sessionStorage.setItem("manyhands-token", ${JSON.stringify(`t-${who}`)})`,
    );
  const open = async (place: string) => {
    const page = await context.newPage();
    await page.goto(`${gateway.url}/${place}`);
    return page;
  };
  const dispose = async () => {
    await context.close();
    expect(faults).toEqual([]);
  };
  return { context, asked, open, [Symbol.asyncDispose]: dispose };
}

async function start(who: string, flow: string, input: string, waits = true): Promise<string> {
  const headers = {
    ...{ Authorization: `Bearer t-${who}`, "Content-Type": "application/json" },
    ...(waits && { Prefer: "wait=20" }),
  };
  const init = { method: "POST", headers, body: JSON.stringify({ input }) };
  return ((await (await fetch(`${gateway.url}/flows/${flow}`, init)).json()) as { id: string }).id;
}

/** Asks axe about what the page shows, light and dark. */
async function expectAccessibleInBoth(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
}

/** Waits until an expression of the page is true. */
async function until(page: Page, expression: string): Promise<void> {
  for (const deadline = Date.now() + waitMs; !(await page.evaluate(expression)); await Bun.sleep(50))
    if (Date.now() > deadline) throw new Error(`never ${expression}`);
}

const titled = (page: Page, start: string) => until(page, `document.title.startsWith(${JSON.stringify(start)})`);

test("an idle page asks for nothing in a minute; a run that starts elsewhere is there at once", async () => {
  await using opened = await openAs("idle");
  const page = await opened.open("");
  await page.getByText("Tasks you start appear here.").first().waitFor();
  await page.clock.install();
  await page.goto(`${gateway.url}/#/runs`);
  await page.getByText("Tasks you start appear here.").nth(1).waitFor();
  await page.waitForLoadState("load");
  const before = opened.asked.length;
  await page.clock.runFor(55_000);
  expect(opened.asked.slice(before)).toEqual([]);
  await start("idle", "echo", "from elsewhere");
  await page.getByRole("navigation", { name: "Main", exact: true }).getByText("from elsewhere").waitFor();
});

test("title and mark tell what waits and what failed, and screen readers hear it", async () => {
  await using opened = await openAs("title");
  const page = await opened.open("#/settings");
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  const mark = () => page.locator("link[rel=icon]").getAttribute("href");
  const calm = await mark();
  await start("title", "echo", "ask about the weather", false);
  await titled(page, "(1) ");
  await page
    .locator("[data-announcer]", { hasText: "Waiting for you: ask about the weather" })
    .waitFor({ state: "attached" });
  const waits = await mark();
  await start("title", "echo", "fail at once");
  await titled(page, "✕ (1) ");
  await page.locator("[data-announcer]", { hasText: "Failed: fail at once" }).waitFor({ state: "attached" });
  expect(new Set([calm, waits, await mark()]).size).toBe(3);
  await page.goto(`${gateway.url}/#/runs`);
  await titled(page, "(1) ");
});

test("notifications are asked for by a press only, and tell of a question in another conversation", async () => {
  await using opened = await openAs("notified");
  await opened.context.addInitScript(`{
    window.told = []; window.permissionAsked = 0;
    window.Notification = class { constructor(title, { body }) { told.push(title + ": " + body); }
      static permission = "default";
      static async requestPermission() { permissionAsked += 1; return (this.permission = "granted"); } };
  }`);
  const page = await opened.open("#/settings/appearance");
  const choice = page.getByLabel("Notify me of questions and ends");
  await choice.waitFor();
  expect(await page.evaluate("permissionAsked")).toBe(0);
  await start("notified", "echo", "ask too early", false);
  await titled(page, "(1) ");
  expect(await page.evaluate("told")).toEqual([]);
  await choice.check();
  await page.getByText("You are told of questions").waitFor();
  await start("notified", "echo", "ask again", false);
  await until(page, "told.length > 0");
  expect(await page.evaluate("told")).toEqual(["Waiting for you: Really?"]);
});

test("the tabs of a person share one stream, and when its tab closes another takes it", async () => {
  await using opened = await openAs("tabs");
  const streams = () => opened.asked.filter((path) => path === "/changes").length;
  const [first, second] = [await opened.open(""), await opened.open("#/runs")];
  const shows = (page: Page, task: string) => page.locator(".recent").getByText(task).waitFor();
  await first.getByText("Tasks you start appear here.").first().waitFor();
  await second.getByText("Tasks you start appear here.").first().waitFor();
  await start("tabs", "echo", "one for both");
  await Promise.all([shows(first, "one for both"), shows(second, "one for both")]);
  expect(streams()).toBe(1);
  await first.close();
  await start("tabs", "echo", "one for the other");
  await shows(second, "one for the other");
  expect(streams()).toBe(2);
});

test("a list is kept as a view, found after a reload, and forgotten with a way back", async () => {
  await using opened = await openAs("views");
  const page = await opened.open("#/runs?status=failed&minUsd=10");
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.getByLabel("Name of the view").fill("Dear failures");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.goto(`${gateway.url}/#/runs`);
  await page.reload();
  await page.getByRole("link", { name: "Dear failures" }).click();
  await page.waitForURL(/status=failed&minUsd=10|minUsd=10&status=failed/);
  await page.getByRole("button", { name: "Remove the view Dear failures" }).click();
  expect(await page.getByRole("link", { name: "Dear failures" }).count()).toBe(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: "Dear failures" }).waitFor();
});

test("a task is run again changed, and both runs are compared", async () => {
  const who = "compare";
  const id = await start(who, "again", "pwd");
  await using opened = await openAs(who);
  const page = await opened.open(`#/runs/${id}`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Rerun with a changed task" }).click();
  const task = page.getByRole("textbox", { name: "Task" });
  expect(await task.inputValue()).toBe("pwd");
  await task.fill("whoami");
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL((url) => !url.hash.includes(id));
  await page.locator('.head .st[data-state="completed"]').waitFor();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Compare with another run" }).click();
  await page.getByRole("dialog").getByRole("link", { name: /pwd/ }).click();
  const calls = page.getByRole("region", { name: "Calls of Again" });
  await calls.getByRole("listitem").nth(3).waitFor();
  const differing = calls.getByRole("listitem").filter({ hasText: "differs" });
  expect(await differing.allInnerTexts()).toMatchObject([expect.stringContaining("whoami")]);
  await page.getByRole("row", { name: /^Task differs whoami pwd/ }).waitFor();
  await expectAccessibleInBoth(page);
  await page.getByLabel("Only what differs").check();
  expect(await calls.getByRole("listitem").count()).toBe(1);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
}, 180_000);

test("repeated calls are one row that opens, and the waterfall is zoomed by keys, buttons and dragging", async () => {
  const id = await start("zoom", "again", "pwd");
  await using opened = await openAs("zoom");
  const page = await opened.open(`#/runs/${id}`);
  const folded = page.getByRole("treeitem", { name: /3 equal calls/ });
  await folded.click();
  expect(await page.getByRole("treeitem").count()).toBe(3);
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem").nth(4).waitFor();
  await page.keyboard.press("ArrowLeft");
  const ticks = page.locator(".ticks > span");
  const whole = await ticks.allInnerTexts();
  await page.keyboard.press("+");
  await page.getByRole("button", { name: "Fit" }).waitFor();
  expect(await ticks.allInnerTexts()).not.toEqual(whole);
  await page.keyboard.press("0");
  await page.getByRole("button", { name: "Fit" }).waitFor({ state: "detached" });
  const { x = 0, y = 0, width = 0 } = (await page.locator(".ticks").boundingBox()) ?? {};
  await page.mouse.move(x + width * 0.1, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.9, y + 10, { steps: 3 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Fit" }).click();
  expect(await ticks.allInnerTexts()).toEqual(whole);
});

test("a link shows a run to somebody without a token, to be read only, until it is revoked", async () => {
  const who = "share";
  const id = await start(who, "showcase", "Show it all", false);
  await using owner = await openAs(who);
  const page = await owner.open(`#/runs/${id}`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Share by link" }).click();
  await page.getByLabel("1 day", { exact: true }).check();
  await page.getByRole("button", { name: "Make a link" }).click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  await page.getByText("1 link works").waitFor();
  await expectAccessibleInBoth(page);
  await using guest = await openAs(undefined);
  const shown = await guest.open(link.slice(`${gateway.url}/`.length));
  await shown.getByRole("treeitem", { name: /bash/ }).click();
  await shown.getByText("head orders.csv").first().waitFor();
  await expectAccessibleInBoth(shown);
  await shown.getByRole("tab", { name: /Files/ }).click();
  await shown.getByText("No files.").waitFor();
  for (const name of ["More", "Stop", "Rerun", "Start"])
    expect(await shown.getByRole("button", { name, exact: true }).count()).toBe(0);
  expect(await shown.getByRole("navigation").count()).toBe(0);
  const other = guest.asked.filter((path) => !/^\/(?:shared\b|console\/|$)/.test(path));
  expect([other, guest.asked.some((path) => path.includes("mhs_"))]).toEqual([[], false]);
  await shown.setViewportSize({ width: 390, height: 844 });
  expect(await shown.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("1 link works").waitFor({ state: "detached" });
  await shown.reload();
  await shown.getByText("This link opens nothing.").first().waitFor();
  await expectAccessibleInBoth(shown);
}, 180_000);

test("below 1100 pixels the navigation is icons that keep their names, and English is not all it speaks", async () => {
  await using opened = await openAs("narrow", { viewport: { width: 1000, height: 800 }, locale: "zh-CN" });
  const page: Page = await opened.open("#/runs?status=canceled");
  const nav = page.locator("nav.nav");
  const waiting = nav.getByRole("link", { name: "等你处理" });
  await waiting.waitFor();
  const box = await nav.boundingBox();
  expect(box?.width).toBeLessThan(60);
  await page.getByRole("button", { name: "保存此视图" }).click();
  await page.getByText("视图保存在此浏览器中").waitFor();
  await expectAccessibleInBoth(page);
});
