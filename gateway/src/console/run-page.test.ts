import { afterAll, beforeAll, expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { BrowserContextOptions } from "playwright";
import { type ConsoleBrowser, expectAccessible, openBrowser } from "../testing/console-browser.ts";
import { consoleFixture, hostile } from "../testing/console-fixture.ts";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

let browser: ConsoleBrowser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

async function startRun({ url }: TestGateway, name: string, input: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ input }) };
  return ((await (await fetch(`${url}/flows/${name}`, init)).json()) as { id: string }).id;
}

/**
 * A page that has asked nobody but the gateway and has not complained, as is seen when it closes.
 */
const open = ({ url }: TestGateway, place: string, look: BrowserContextOptions = {}) =>
  browser.page(`${url}/${place}`, look);

test("whatever a model or an agent says is shown as text in the run view, and its plan as a graph", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  const id = await startRun(gateway, "showcase", hostile);
  await using opened = await open(gateway, `#/runs/${id}`);
  const { page } = opened;
  await page.getByRole("region", { name: "Plan" }).getByRole("button").nth(2).waitFor();
  await page.getByRole("treeitem", { name: /bash/ }).click();
  const inspector = page.getByRole("complementary", { name: "What was done" });
  await inspector.getByText("<script>window.hacked = 1</script>").first().waitFor();
  await inspector.getByText("head orders.csv").waitFor();
  await page.getByRole("tab", { name: /Events/ }).click();
  await page.getByRole("button", { name: /question-asked/ }).click();
  await inspector.getByText("Shall I go on?").waitFor();
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.locator("main script, main img[src^=http], main a[href^=javascript]").count()).toBe(0);
});

test("axe finds nothing where an answer's table scrolls, and on a phone where a failure stands above the tree", async () => {
  let more = "";
  const broken: TestFlow = {
    runnable: { ...echo, name: "broken", kind: "broken", title: "Broken" },
    execute() {
      throw new AppError("invalid_input", `The key is wrong. See whether it is for this model.${more}`);
    },
  };
  await using gateway = await startGateway({ flows: [broken] });
  const cells = Array.from({ length: 30 }, (_, column) => `column ${column}`);
  const wide = [cells, cells.map(() => "-:"), cells].map((row) => `|${row.join("|")}|`).join("\n");
  const id = await startRun(gateway, "echo", `${wide}\n\n${wide}\n\n- [x] done\n- [ ] open`);
  const briefly = await startRun(gateway, "broken", "Do it");
  more = `\n${"at every turn ".repeat(30)}`;
  const failed = await startRun(gateway, "broken", "Do it");
  await using opened = await open(gateway, `#/runs/${id}`);
  const { page } = opened;
  const table = page.getByRole("group", { name: "Table" }).first();
  await table.waitFor();
  expect(await table.evaluate((region) => region.scrollWidth - region.clientWidth)).toBeGreaterThan(0);
  await page.getByRole("checkbox", { name: "Not done" }).waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${gateway.url}/#/runs/${failed}`);
  const outcome = page.locator(".run-outcome");
  await outcome.getByRole("heading", { name: "In full" }).waitFor();
  await expectAccessible(page);
  // What is short is told once.
  await page.goto(`${gateway.url}/#/runs/${briefly}`);
  await outcome.getByText("See whether it is for this model.").waitFor();
  expect(await outcome.getByText("The key is wrong.").count()).toBe(1);
});

test.each(["light", "dark"] as const)(
  "axe finds nothing in the run view and the list, %s",
  async (colorScheme) => {
    await using gateway = await startGateway({ flows: [consoleFixture] });
    const id = await startRun(gateway, "showcase", "Show it all");
    const failed = await startRun(gateway, "echo", "fail at once");
    await using opened = await open(gateway, `#/runs/${id}`, { colorScheme });
    const { page } = opened;
    await page.getByRole("treeitem", { name: /bash/ }).click();
    await page.getByText("head orders.csv").first().waitFor();
    await expectAccessible(page);
    for (const name of [/Arguments/, /Raw/, /Live/, /Events/, /Files/]) {
      await page.getByRole("tab", { name }).click();
      await expectAccessible(page);
    }
    await page.goto(`${gateway.url}/#/runs/${failed}`);
    await page.getByText("It was told to fail.").filter({ visible: true }).first().waitFor();
    await expectAccessible(page);
    await page.goto(`${gateway.url}/#/runs`);
    await page.getByRole("checkbox").first().click();
    await page.getByRole("toolbar").waitFor();
    await expectAccessible(page);
    await page.goto(`${gateway.url}/#/runs?q=nowhere`);
    await page.getByText("No run matches.").waitFor();
    await expectAccessible(page);
  },
  90_000,
);

test("keys walk the tree, fold it and close what is open; the address says where the reader is", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  const id = await startRun(gateway, "showcase", "Show it all");
  await using opened = await open(gateway, `#/runs/${id}`);
  const { page } = opened;
  const rows = page.getByRole("treeitem");
  await page.getByRole("treeitem", { name: /bash/ }).waitFor();
  const chosen = () => page.locator('[role=treeitem][aria-selected="true"]');
  await page.keyboard.press("j");
  await chosen().waitFor();
  await page.keyboard.press("End");
  await page.locator(`[role=treeitem][aria-selected="true"][aria-posinset="${await rows.count()}"]`).waitFor();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await page.locator('[role=treeitem][aria-expanded="false"]').waitFor();
  expect(await rows.count()).toBe(1);
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem", { name: /bash/ }).waitFor();
  expect(page.url()).toContain("event=1");
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.hash.includes("event="));
});

test("keys that come faster than the page is drawn act on what the ones before them chose", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  const id = await startRun(gateway, "showcase", "Show it all");
  await using opened = await open(gateway, `#/runs/${id}`);
  const { page } = opened;
  await page.getByRole("treeitem", { name: /bash/ }).waitFor();
  const pressed = (...keys: string[]) =>
    page.evaluate(`for (const key of ${JSON.stringify(keys)})
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));`);
  await pressed("j", "End", "k", "Home", "ArrowLeft");
  await page.locator('[role=treeitem][aria-expanded="false"][aria-selected="true"]').waitFor();
  expect(await page.getByRole("treeitem").count()).toBe(1);
  await pressed("ArrowRight", "j", "Escape");
  await page.waitForURL((url) => !url.hash.includes("event="));
  await page.getByRole("treeitem", { name: /bash/ }).waitFor();
});

test("on a phone nothing but code and tables scrolls sideways, and a call opens over the tree", async () => {
  await using gateway = await startGateway({ flows: [consoleFixture] });
  const id = await startRun(gateway, "showcase", "Show it all");
  await using opened = await open(gateway, `#/runs/${id}`, { viewport: { width: 390, height: 844 } });
  const { page } = opened;
  await page.getByRole("treeitem", { name: /bash/ }).click();
  await page.getByText("head orders.csv").first().waitFor();
  const wide = "document.documentElement.scrollWidth > innerWidth";
  expect(await page.evaluate(wide)).toBe(false);
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("complementary", { name: "What was done" }).waitFor({ state: "hidden" });
  await page.goto(`${gateway.url}/#/runs`);
  await page.getByRole("link", { name: "Show it all" }).first().waitFor();
  expect(await page.evaluate(wide)).toBe(false);
});

test("on a slow line a run that has ended is not shown running, and what could not be fetched is not said to be nothing", async () => {
  await using gateway = await startGateway();
  const id = await startRun(gateway, "echo", "Count the whales");
  await using opened = await open(gateway, "#/waiting");
  const { page } = opened;
  await page.getByRole("heading", { name: "Waiting for you", level: 1 }).waitFor();
  const [gate, code] = [Promise.withResolvers<void>(), /\.js$/];
  await page.route("**/tree**", (route) => gate.promise.then(() => route.continue()));
  await page.route("**/files", (route) => route.abort());
  await page.route(code, (route) => route.abort());
  const goTo = (place: string) => page.evaluate(`location.hash = "${place}"`);
  await goTo("#/settings");
  await page.getByText("The gateway cannot be reached.").first().waitFor();
  await page.unroute(code);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();

  await goTo(`#/runs/${id}`);
  await page.locator('.head .st[data-state="completed"]').waitFor();
  const inspector = page.getByRole("complementary", { name: "What was done" });
  await inspector.getByText("Loading").waitFor();
  expect(await page.getByRole("tree").locator(".spin").count()).toBe(0);
  gate.resolve();
  await inspector.getByRole("heading", { name: "Answer" }).waitFor();
  expect(await inspector.getByText("Loading").count()).toBe(0);

  await goTo(`#/runs/${id}/files`);
  await page.getByRole("main").getByRole("button", { name: "Try again" }).waitFor();
  expect(await page.getByText("No files.").count()).toBe(0);
  await page.unroute("**/files");
  await page.getByRole("main").getByRole("button", { name: "Try again" }).click();
  await page.getByText("No files.").waitFor();
});

test("the list keeps its order while runs start, counts the new ones, and another principal sees none of them", async () => {
  await using gateway = await startGateway({ token: "t" });
  const start = (input: string, token: string) =>
    fetch(`${gateway.url}/flows/echo`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}`, Prefer: "wait=10" },
      body: JSON.stringify({ input }),
    });
  await start("first of ann", "t-ann");
  await using opened = await open(gateway, "#/runs");
  const { page } = opened;
  const signIn = async (token: string) => {
    await page.locator("#token").fill(token);
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await signIn("t-ann");
  await page.getByRole("link", { name: "first of ann" }).first().waitFor();
  await start("second of ann", "t-ann");
  await page.getByRole("button", { name: "1 new run" }).waitFor();
  expect(await page.locator("[data-run]").count()).toBe(1);
  await page.getByRole("button", { name: "1 new run" }).click();
  await page.locator("[data-run]", { hasText: "second of ann" }).waitFor();
  await page.evaluate("sessionStorage.clear()");
  await page.reload();
  await signIn("t-bob");
  await page.getByText("Tasks you start appear here.").first().waitFor();
  expect(await page.locator("[data-run]").count()).toBe(0);
});

test("how long a run has taken grows while nothing happens, and ends with it", async () => {
  await using gateway = await startGateway();
  const id = await startRun(gateway, "echo", "sleep");
  await using opened = await open(gateway, `#/runs/${id}`);
  const { page } = opened;
  const time = page.locator(".stats dd").first();
  await time.filter({ hasText: /^[3-9](\.\d)? s$/ }).waitFor();
  const shown = await time.innerText();
  await gateway.engine.cancel(id);
  await page.locator(".head .st[data-state=canceled]").waitFor();
  expect(Number.parseFloat(shown)).toBeLessThanOrEqual(Number.parseFloat(await time.innerText()));
});
