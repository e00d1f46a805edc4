import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright";
import { serveCard } from "../testing/card-server.ts";
import { consoleFixture, hostile } from "../testing/console-fixture.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const chromiumPath = Bun.which("chromium") ?? Bun.which("google-chrome");
const waitMs = 60_000;

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    args: ["--no-sandbox"],
    ...(chromiumPath !== null && { executablePath: chromiumPath }),
  });
});
afterAll(() => browser?.close());

/**
 * A page of the console that has not complained about anything; all it asked of anyone is in
 * `asked`.
 */
async function openConsole(
  gateway: Pick<TestGateway, "url">,
  place = "",
): Promise<AsyncDisposable & { page: Page; asked: string[]; context: BrowserContext }> {
  const context = await browser.newContext();
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

/** Waits until the image among the files is there and was read. */
async function shownImage(page: Page): Promise<void> {
  const width = () =>
    page.locator(".files img").evaluate((image: unknown) => (image as { naturalWidth: number }).naturalWidth);
  for (const deadline = Date.now() + waitMs; (await width()) !== 1; await Bun.sleep(50)) {
    if (Date.now() > deadline) throw new Error("the image is not shown");
  }
}

async function start(page: Page, flow: string, task: string): Promise<void> {
  await page.getByLabel("Flow or agent").selectOption(flow);
  await page.getByLabel("Task").fill(task);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/#\/runs\//);
}

test("a run is started, seen live, answered and read to its end, and a reload in the middle loses nothing", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.getByLabel("Files").setInputFiles({ name: "chart.png", mimeType: "image/png", buffer: png });
  await start(page, "showcase", "Show it all");
  await page.getByText("live word").first().waitFor();
  await page.getByText("Shall I go on?").first().waitFor();
  expect(await page.locator(".plan .mark").allTextContents()).toEqual(["[✓]", "[→]", "[ ]"]);
  const before = await page.locator(".timeline li").allTextContents();
  expect(before.join("\n")).toContain("manus: Read orders.csv");

  await page.reload();
  await page.getByText("Shall I go on?").first().waitFor();
  await expect(page.locator(".timeline li").allTextContents()).resolves.toEqual(before);

  await page.getByLabel("Your answer").fill("yes");
  await page.getByLabel("Your answer").press("Control+Enter");
  await page.getByRole("heading", { name: "Revenue of the orders" }).waitFor();
  expect(await page.locator(".plan .mark").allTextContents()).toEqual(["[✓]", "[✓]", "[✓]"]);
  await shownImage(page);
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "chart.png" }).click();
  expect(await Bun.file(await (await saved).path()).bytes()).toEqual(new Uint8Array(png));
  await page.getByText("26,157 tokens").waitFor();
  await page.locator(".runs .state.completed").waitFor();
});

test("a model's output is text: it runs nothing, fetches nothing, and links only to web addresses", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page, asked } = opened;
  const message = "<script>window.hacked = 4</script><b>bold</b>";
  await start(page, "showcase", message);
  await page.getByText("Shall I go on?").first().waitFor();
  await page.getByLabel("Your answer").fill(message);
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByRole("heading", { name: "Revenue of the orders" }).waitFor();
  for (const each of await page.locator("summary").all()) await each.click();
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.locator("main script, main b, main [onerror]").count()).toBe(0);
  const links = await page.locator("main a").evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  expect(links).toContain("https://example.org/orders");
  expect(links.filter((href) => !/^https?:\/\//.test(href))).toEqual([]);
  const shown = (await page.locator("main").textContent()) ?? "";
  expect(shown).toContain("\\u001b[31mred\\u202etxt.exe");
  expect([shown.includes("\u001b"), shown.includes("\u202e")]).toEqual([false, false]);
  expect(asked.filter((url) => !url.startsWith(gateway.url))).toEqual([]);
});

test("a run is cancelled, and one that failed says why", async () => {
  await using gateway = await startGateway();
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await start(page, "echo", "sleep");
  await page.locator(".head .state.running, .head .state.waiting").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".head .state.canceled").waitFor();
  expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
  await page.getByRole("link", { name: "New run" }).click();
  await start(page, "echo", "fail now");
  await page.getByText("It was told to fail. (task_failed)").waitFor();
});

test("the token is asked for once, kept for the tab, and asked for again if it is wrong", async () => {
  await using gateway = await startGateway({ token: "secret", flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.getByLabel("Token").fill("guess");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Wrong token").waitFor();
  await page.getByLabel("Token").fill("secret");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Files").setInputFiles({ name: "chart.png", mimeType: "image/png", buffer: png });
  await start(page, "showcase", "Show it all");
  await page.reload();
  await page.getByLabel("Your answer").fill("yes");
  await page.getByRole("button", { name: "Answer" }).click();
  await shownImage(page);
  expect(await page.evaluate("localStorage.length")).toBe(0);
});

test("if the connection breaks, the page continues where it was", async () => {
  await using gateway = await startGateway();
  await using proxy = await startCuttingProxy(gateway.url);
  await using opened = await openConsole(proxy);
  const { page } = opened;
  await start(page, "echo", "ask me");
  await page.getByText("Really?").first().waitFor();
  const before = await page.locator(".timeline li").count();
  proxy.closed = true;
  proxy.cut();
  await page.getByText("Connection lost").waitFor();
  const id = page.url().split("/").at(-1);
  const said = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"input": "yes"}' };
  await fetch(`${gateway.url}/runs/${id}/answer`, said);
  proxy.closed = false;
  await page.getByText("Run completed").waitFor();
  const lines = await page.locator(".timeline li").allTextContents();
  expect(lines.length).toBeGreaterThan(before);
  expect(lines.filter((line) => line.includes("Really?"))).toHaveLength(1);
});

test("a flow's options are fields of their type; only those that were set are sent, and invalid JSON is reported", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await page.getByLabel("Flow or agent").selectOption("showcase");
  await page.getByText("Options").click();
  await page.getByLabel("approve").check();
  await page.getByLabel("concurrency").fill("2");
  await page.getByLabel("onFailure").selectOption("continue");
  await page.getByLabel("steps").fill("[");
  await page.getByLabel("Task").fill("go");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("steps is not valid JSON").waitFor();
  await page.getByLabel("steps").fill('[{"agent": "manus"}]');
  await page.getByLabel("Agents, in order").fill("manus, swe");
  const sent = page.waitForRequest((request) => request.method() === "POST");
  await page.getByRole("button", { name: "Start" }).click();
  const options = { approve: true, concurrency: 2, onFailure: "continue", steps: [{ agent: "manus" }] };
  expect((await sent).postDataJSON()).toEqual({ input: { text: "go" }, agents: ["manus", "swe"], options });
});

test("agents show their health, why one is unavailable, and how their cards changed", async () => {
  await using gateway = await startGateway();
  await using agent = serveCard("Greeter");
  await gateway.registry.add({ url: agent.url });
  await using opened = await openConsole(gateway, "#/agents");
  const { page } = opened;
  await page.locator(".agents .state.up").waitFor();
  agent.card = { ...agent.card, version: "2.0.0", description: hostile };
  await gateway.registry.refresh();
  await page.getByText("Card changes").waitFor();
  agent.answer = () => new Response("", { status: 502 });
  await gateway.registry.refresh();
  await page.locator(".agents .state.down").waitFor();
  expect(await page.locator(".agents .error").textContent()).not.toBe("");
});
