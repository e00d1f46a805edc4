import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import type { Browser, BrowserContext, Locator, Page } from "playwright";
import { approvalFlow, proposedCall } from "../testing/approval-flow.ts";
import { serveCard } from "../testing/card-server.ts";
import { expectAccessible, stillPage } from "../testing/console-browser.ts";
import { consoleFixture, hostile } from "../testing/console-fixture.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

const waitMs = 60_000;

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());

/**
 * A page of the console that has not complained about anything; all it asked of anyone is in
 * `asked`.
 */
async function openConsole(
  gateway: Pick<TestGateway, "url">,
  place = "",
  look: Parameters<Browser["newContext"]>[0] = {},
): Promise<AsyncDisposable & { page: Page; asked: string[]; context: BrowserContext }> {
  const context = await browser.newContext({ ...stillPage, ...look });
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  const asked: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) faults.push(message.text());
  });
  await page.goto(`${gateway.url}/${place}`);
  return {
    page,
    context,
    asked,
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(faults).toEqual([]);
    },
  };
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const picture = { name: "chart.png", mimeType: "image/png", buffer: png };

const thread = (page: Page) => page.getByRole("region", { name: "Conversation" });
const state = (page: Page, name: string) => page.locator(`.head .st[data-state="${name}"]`).waitFor();

/** Waits until what `read` returns is as expected. */
async function until<Value>(read: () => Promise<Value>, isIt: (value: Value) => boolean): Promise<Value> {
  for (const deadline = Date.now() + waitMs; ; await Bun.sleep(50)) {
    const value = await read();
    if (isIt(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`);
  }
}

async function start(page: Page, flow: string, task: string): Promise<void> {
  await choose(page, flow);
  await page.getByLabel("Task", { exact: true }).fill(task);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/#\/c\//);
}

async function choose(page: Page, flow: string): Promise<void> {
  await page.getByRole("button", { name: "Flow or agent" }).click();
  await page.getByRole("menuitemradio", { name: flow }).click();
}

async function answer(page: Page, text: string): Promise<void> {
  await page.getByLabel("Your answer").fill(text);
  // A card ignores presses right after it appeared.
  await until(
    async () => {
      await page
        .getByRole("button", { name: "Answer", exact: true })
        .click({ timeout: 1_000 })
        .catch(() => undefined);
      return page.getByLabel("Your answer").count();
    },
    (count) => count === 0,
  );
}

const planStates = (page: Page) =>
  page.locator(".plan svg").evaluateAll((all) => all.map((mark) => mark.getAttribute("aria-label")));

test("a task is started, seen live, answered and read to its end, and a reload in the middle loses nothing", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.locator("input[type=file]").setInputFiles(picture);
  await start(page, "Showcase", "Show it all");
  await page.getByText("live word").first().waitFor();
  await thread(page).getByText("Shall I go on?").waitFor();
  await until(
    () => planStates(page),
    (states) => states.join() === "Completed,Running,Not started",
  );
  const before = await until(
    () => thread(page).locator(".run-thread").innerText(),
    (text) => !text.includes("live word"),
  );
  expect(before).toContain("Step 1 goes to manus");

  await page.reload();
  await thread(page).getByText("Shall I go on?").waitFor();
  await until(
    () => thread(page).locator(".run-thread").innerText(),
    (text) => text === before,
  );

  await answer(page, "yes");
  await page.getByRole("heading", { name: "Revenue of the orders" }).waitFor();
  await until(
    () => planStates(page),
    (states) => states.join() === "Completed,Completed,Completed",
  );
  await shownPicture(page);
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "chart.png" }).first().click();
  expect(await Bun.file(await (await saved).path()).bytes()).toEqual(new Uint8Array(png));
  await page.getByText("26,157").waitFor();
  await state(page, "completed");
});

/** Writes, or asks an agent that does, until the run is stopped. */
function writing(title: string, write: (at: number) => RunEvent, asked?: RunEvent): TestFlow {
  const name = title.toLowerCase();
  return {
    runnable: { ...echo, name, kind: name, title },
    async execute(run) {
      if (asked !== undefined) run.emit(asked);
      await run.step("write", async ({ progress, signal }) => {
        for (let at = 0; !signal.aborted; at++) {
          progress(write(at));
          await Bun.sleep(100);
        }
        return null;
      });
      return { answer: "" };
    },
  };
}

const writer = writing("Writer", () => ({ type: "text-delta", text: "live word " }));
const asked = { askId: "a", agent: "swe", url: "http://127.0.0.1:1", text: "Write", parts: [], hops: 1 };
const relay = writing("Relay", (at) => ({ type: "agent-writing", askId: "a", text: "live word ", at }), {
  type: "agent-asked",
  ...asked,
});

test("what is written now stands at the edge of its turn, and what an agent writes in the turn that it began", async () => {
  await using gateway = await startGateway({ flows: [writer, relay] });
  for (const { runnable } of [writer, relay]) {
    await using opened = await openConsole(gateway);
    const { page } = opened;
    await start(page, runnable.title, "Write");
    const body = thread(page).locator(".turn .body", { hasText: "live word" });
    await body.waitFor();
    const left = (element: Locator) => element.boundingBox().then((box) => box?.x ?? Number.NaN);
    expect((await left(body)) - (await left(body.locator("..")))).toBeLessThan(50);
    if (runnable === relay.runnable) expect(await thread(page).getByRole("heading", { name: "swe" }).count()).toBe(1);
    await page.getByRole("button", { name: "Stop" }).click();
    await state(page, "canceled");
  }
});

/** Waits until a picture of the conversation was read. */
async function shownPicture(page: Page): Promise<void> {
  const pictures = () =>
    page
      .locator("img.picture")
      .evaluateAll((all) => all.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth));
  await until(pictures, (widths) => widths.includes(1));
}

test("a model's output is text: it runs nothing, fetches nothing, and links only to web addresses", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page, asked } = opened;
  const message = "<script>window.hacked = 4</script><b>bold</b>";
  await start(page, "Showcase", message);
  await thread(page).getByText("Shall I go on?").waitFor();
  await answer(page, message);
  await page.getByRole("heading", { name: "Revenue of the orders" }).waitFor();
  for (const each of await thread(page).locator(".fold, summary").all()) await each.click();
  for (const each of await thread(page).locator(".inside summary").all()) await each.click();
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.locator("main script, main b, main [onerror]").count()).toBe(0);
  const links = await page.locator("main a").evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  expect(links).toContain("https://example.org/orders");
  expect(links.filter((href) => !/^(https?:\/\/|#\/)/.test(href))).toEqual([]);
  const shown = (await page.locator("main").textContent()) ?? "";
  expect(shown).toContain("\\u001b[31mred\\u202etxt.exe");
  expect([shown.includes("\u001b"), shown.includes("\u202e")]).toEqual([false, false]);
  expect(asked.filter((url) => !url.startsWith(gateway.url))).toEqual([]);
});

test("a person allows a call, seeing what it would do and its exact arguments, by a button or by its key", async () => {
  await using gateway = await startGateway({ flows: [approvalFlow] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await start(page, "Careful", "Register us");
  const card = page.locator(".ask");
  await card.waitFor();
  expect(await card.locator(".will").textContent()).toBe(proposedCall.risk);
  expect(await card.locator(".args .val").allTextContents()).toEqual(["send_form", "e24", "line one\nline two"]);
  await press(card, () => card.getByRole("button", { name: "Allow once" }).click({ timeout: 1_000 }));
  await page.getByText("It was sent.", { exact: true }).waitFor();
  await page.getByText(/^Allowed at/).waitFor();

  // The conversation goes on with the same flow.
  await state(page, "completed");
  await page.getByLabel("Message", { exact: true }).fill("And once more");
  await page.getByRole("button", { name: "Send" }).click();
  await card.waitFor();
  await press(card, async () => {
    await card.focus({ timeout: 1_000 });
    await page.keyboard.press("d");
  });
  await page.getByText("It was not sent: no", { exact: true }).waitFor();
  await page.getByText(/^Denied at/).waitFor();
  expect(await page.locator(".run-thread").count()).toBe(2);
});

/** Decides, again if the card had only just appeared, until it is gone. */
async function press(card: Locator, act: () => Promise<void>): Promise<void> {
  await until(
    async () => {
      await act().catch(() => undefined);
      return card.count();
    },
    (count) => count === 0,
  );
}

test("a call that is denied with a reason tells the agent why, from the list of what waits", async () => {
  await using gateway = await startGateway({ flows: [approvalFlow] });
  const body = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"input": "Register us"}' };
  const { contextId } = (await (await fetch(`${gateway.url}/flows/careful`, body)).json()) as { contextId: string };
  await using opened = await openConsole(gateway, "#/waiting");
  const { page } = opened;
  const card = page.locator(".ask");
  await card.getByRole("button", { name: "Deny with a reason" }).click();
  await card.getByLabel("Reason").fill("not this week");
  await press(card, () => card.getByRole("button", { name: "Deny", exact: true }).click({ timeout: 1_000 }));
  await page.getByText("Nothing waits for you").waitFor();
  await page.goto(`${gateway.url}/#/c/${contextId}`);
  await page.getByText("It was not sent: no: not this week", { exact: true }).waitFor();
});

test("a task is stopped, and one that failed says why", async () => {
  await using gateway = await startGateway();
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await start(page, "Echo", "sleep");
  await page.locator('.head .st[data-state="running"], .head .st[data-state="waiting"]').waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await state(page, "canceled");
  expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  await page.getByRole("link", { name: "New task" }).click();
  await start(page, "Echo", "fail now");
  await thread(page).getByText("It was told to fail.").waitFor();
  await state(page, "failed");
});

test("what shows that a run goes on turns, and stands still for people who want no motion", async () => {
  await using gateway = await startGateway();
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.evaluate('document.body.classList.add("spin")');
  const motion = () => page.evaluate("getComputedStyle(document.body).animationName");
  expect(await motion()).toBe("none");
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect(await motion()).toBe("spin");
});

test("the token is asked for once, kept for the tab, and asked for again if it is wrong", async () => {
  await using gateway = await startGateway({ token: "secret", flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.getByLabel("Token", { exact: true }).fill("guess");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Wrong token").waitFor();
  await page.getByLabel("Token", { exact: true }).fill("secret");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.locator("input[type=file]").setInputFiles(picture);
  await start(page, "Showcase", "Show it all");
  await page.reload();
  await answer(page, "yes");
  await shownPicture(page);
  expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("secret");
});

test("if the connection breaks, the page continues where it was", async () => {
  await using gateway = await startGateway();
  await using proxy = await startCuttingProxy(gateway.url);
  await using opened = await openConsole(proxy);
  const { page } = opened;
  await start(page, "Echo", "ask me");
  await thread(page).getByText("Really?").waitFor();
  proxy.closed = true;
  proxy.cut();
  await thread(page).getByText("Connection lost").waitFor();
  const contextId = decodeURIComponent(page.url().split("/").at(-1) ?? "");
  const { runs } = (await (await fetch(`${gateway.url}/runs?contextId=${contextId}`)).json()) as {
    runs: { id: string }[];
  };
  const said = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"input": "yes"}' };
  await fetch(`${gateway.url}/runs/${runs[0]?.id}/answer`, said);
  proxy.closed = false;
  await state(page, "completed");
  await thread(page).getByText("ask me").nth(1).waitFor();
  expect(await thread(page).locator(".answered").count()).toBe(1);
});

test("a flow's options are fields of their type; only those that were set are sent, and invalid JSON is reported", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await choose(page, "Showcase");
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("approve").check();
  await page.getByLabel("concurrency").fill("2");
  await page.getByLabel("onFailure").selectOption("continue");
  await page.getByLabel("steps").fill("[");
  await page.getByLabel("Task", { exact: true }).fill("go");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("steps is not valid JSON").waitFor();
  await page.getByLabel("steps").fill('[{"agent": "manus"}]');
  await page.getByRole("button", { name: "Agents, in order" }).click();
  await page.getByRole("textbox", { name: "Agents, in order" }).fill("manus, swe");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Spending limit" }).click();
  await page.getByRole("spinbutton", { name: "Spending limit" }).fill("0.5");
  await page.keyboard.press("Escape");
  const sent = page.waitForRequest((request) => request.method() === "POST");
  await page.getByRole("button", { name: "Start" }).click();
  const options = { approve: true, concurrency: 2, onFailure: "continue", steps: [{ agent: "manus" }] };
  const budget = { usd: 0.5 };
  expect((await sent).postDataJSON()).toEqual({ input: { text: "go" }, agents: ["manus", "swe"], options, budget });
});

test("an example fills the form, and a draft survives other pages and a reload", async () => {
  const example = { text: "Which region sold most?", agents: ["manus"], files: [{ name: "orders.csv", text: "a,b" }] };
  const { runnable, ...rest } = consoleFixture;
  await using gateway = await startGateway({ flows: [{ runnable: { ...runnable, example }, ...rest }] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.getByRole("button", { name: "Which region sold most?" }).click();
  const task = page.getByLabel("Task", { exact: true });
  expect(await task.inputValue()).toBe(example.text);
  await page.getByText("orders.csv").waitFor();
  await page.getByRole("button", { name: "Flow or agent" }).getByText("Showcase").waitFor();
  await task.fill("Which region sold least?");
  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.getByRole("link", { name: "New task" }).click();
  await page.getByText("orders.csv").waitFor();
  await page.reload();
  expect(await task.inputValue()).toBe("Which region sold least?");
});

test("agents show their health, why one is unavailable, and how their cards changed", async () => {
  await using gateway = await startGateway();
  await using agent = serveCard("Greeter");
  await gateway.registry.add({ url: agent.url });
  await using opened = await openConsole(gateway, "#/agents");
  const { page } = opened;
  const entry = page.locator("[data-agent]");
  await entry.getByText("Up", { exact: true }).waitFor();
  agent.card = { ...agent.card, version: "2.0.0", description: hostile };
  await gateway.registry.refresh();
  await entry.getByText("Card changes").waitFor();
  agent.answer = () => new Response("", { status: 502 });
  await gateway.registry.refresh();
  await entry.getByText("Down", { exact: true }).waitFor();
  expect(await entry.locator("p.s-fail").textContent()).not.toBe("");
});

test.each(["light", "dark"] as const)("axe finds nothing to complain about on any page, %s", async (colorScheme) => {
  await using gateway = await startGateway({ flows: [consoleFixture, approvalFlow] });
  await using agent = serveCard("Greeter");
  await gateway.registry.add({ url: agent.url });
  await using opened = await openConsole(gateway, "", { colorScheme });
  const { page } = opened;
  await start(page, "Showcase", "Show it all");
  await thread(page).getByText("Shall I go on?").waitFor();
  await expectAccessible(page);
  await answer(page, "yes");
  await state(page, "completed");
  await expectAccessible(page);
  await page.getByRole("link", { name: "New task" }).click();
  await start(page, "Careful", "Register us");
  await page.locator(".ask").waitFor();
  await expectAccessible(page);
  for (const place of ["", "waiting", "agents", "nowhere"]) {
    await page.goto(`${gateway.url}/#/${place}`);
    await page.locator("h1").first().waitFor();
    await expectAccessible(page);
  }
});

test("by keys alone a person finds a task, goes to what waits, and begins a new one", async () => {
  await using gateway = await startGateway({ flows: [approvalFlow] });
  const body = (input: string) => ({
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ input }),
  });
  await fetch(`${gateway.url}/flows/echo`, body("Count the whales"));
  await fetch(`${gateway.url}/flows/careful`, body("Register us"));
  await using opened = await openConsole(gateway, "#/agents");
  const { page } = opened;
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("whales");
  await page.getByRole("option", { name: "Count the whales" }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  // The newest task is another, and nothing has been searched yet.
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Register us" }).waitFor();
  await page.getByRole("combobox").fill("whales");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Count the whales", level: 1 }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await page.getByRole("heading", { name: "Waiting for you", level: 1 }).waitFor();
  await page.locator(".ask").waitFor();
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "What needs doing?" }).waitFor();
});

test("the console speaks the browser's language, or the one that is chosen, and keeps the theme", async () => {
  await using gateway = await startGateway();
  await using opened = await openConsole(gateway, "#/settings/appearance", { locale: "zh-CN" });
  const { page } = opened;
  await page.getByRole("heading", { name: "外观" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
  await expectAccessible(page);
  await page.getByLabel("English").check();
  await page.getByLabel("Dark").check();
  await page.reload();
  await page.getByRole("heading", { name: "Appearance" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("en");
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
});

test("on a phone the page itself scrolls nowhere, and every page is within reach and names the tab", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture, approvalFlow] });
  await using opened = await openConsole(gateway, "", { viewport: { width: 390, height: 844 } });
  const { page } = opened;
  const expectNarrow = async () => {
    const size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]";
    expect(await page.evaluate(size)).toEqual([390, 844]);
  };
  await expectNarrow();
  await start(page, "Careful", "Register us for parcel pickup, as long as a title can possibly be on a phone");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  expect((await allow.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await expectNarrow();
  const titles = { Waiting: "Waiting for you · ", Runs: "Runs · ", Settings: "Settings · ", New: "" };
  for (const [name, title] of Object.entries(titles)) {
    await page.locator(".bottom").getByRole("link", { name }).click();
    await page.locator("h1").first().waitFor();
    await until(
      () => page.title(),
      (shown) => shown === `(1) ${title}Manyhands`,
    );
    await expectNarrow();
    await expectAccessible(page);
  }
  for (const name of ["Flows", "Schedules and triggers", "API"]) {
    await page.locator(".bottom").getByRole("link", { name: "Settings" }).click();
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await until(
      () => page.title(),
      (shown) => shown === `(1) ${name} · Manyhands`,
    );
    await expectNarrow();
  }
});
