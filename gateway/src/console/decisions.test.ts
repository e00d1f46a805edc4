import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page, Route } from "playwright";
import { approvalFlow, proposedCall } from "../testing/approval-flow.ts";
import { accessibilityFaults, type ConsoleBrowser, openBrowser, pressUntil } from "../testing/console-browser.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

let gateway: TestGateway;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ flows: [approvalFlow] }), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

const body = (input: string) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ input }),
});

/** A run of `echo`, and its conversation's address. */
async function begin(input: string): Promise<{ readonly id: string; readonly contextId: string }> {
  return (await fetch(`${gateway.url}/flows/echo`, body(input))).json() as Promise<{ id: string; contextId: string }>;
}

/**
 * Holds the page's request in the moment between the press and its arrival, ends the run, and lets
 * the request go on.
 */
async function endInBetween(page: Page, id: string): Promise<void> {
  await page.route(`**/runs/${id}/*`, async (route: Route) => {
    if (route.request().method() !== "POST") return route.continue();
    await gateway.engine.cancel(id);
    for (
      const deadline = Date.now() + 30_000;
      (await gateway.engine.get(id))?.status !== "canceled";
      await Bun.sleep(5)
    )
      if (Date.now() > deadline) throw new Error("did not end");
    return route.continue();
  });
}

const toast = (page: Page, text: string) => page.locator(".toasts").getByText(text).waitFor();

test("a message that is sent as the task ends starts the next task", async () => {
  const { id, contextId } = await begin("sleep");
  await using opened = await browser.page(`${gateway.url}/#/c/${contextId}`);
  const { page } = opened;
  const message = page.getByLabel("Message", { exact: true });
  await message.fill("Now count the whales");
  await endInBetween(page, id);
  await page.getByRole("button", { name: "Send" }).click();
  await toast(page, "your message started the next one");
  await page.locator(".run-thread").nth(1).getByText("Now count the whales").first().waitFor();
  expect(await message.inputValue()).toBe("");
});

test("whoever sees a run wait in its tree gets from there to what it asks", async () => {
  const asked = await begin("ask me");
  await using opened = await browser.page(`${gateway.url}/#/runs/${asked.id}`);
  const { page } = opened;
  await page.locator("header").getByRole("link", { name: "Answer" }).click();
  await page.getByLabel("Your answer").waitFor();
  await gateway.engine.cancel(asked.id);
});

test("an answer that is sent as the task ends is not lost, and the page says why", async () => {
  const { id, contextId } = await begin("ask me");
  await using opened = await browser.page(`${gateway.url}/#/c/${contextId}`);
  const { page } = opened;
  await page.getByLabel("Your answer").fill("Yes, all of them");
  await endInBetween(page, id);
  const told = page.locator(".toasts").getByText("ended before your answer");
  await pressUntil(page.getByRole("button", { name: "Answer", exact: true }), async () => (await told.count()) > 0);
  expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("Yes, all of them");
});

test("a Stop that is pressed as the task ends by itself is no error", async () => {
  const { id, contextId } = await begin("ask me");
  await using opened = await browser.page(`${gateway.url}/#/c/${contextId}`);
  const { page } = opened;
  await page.route(`**/runs/${id}/cancel`, async (route) => {
    await fetch(`${gateway.url}/runs/${id}/answer`, body("yes"));
    for (
      const deadline = Date.now() + 30_000;
      (await gateway.engine.get(id))?.status !== "completed";
      await Bun.sleep(5)
    )
      if (Date.now() > deadline) throw new Error("did not end");
    return route.continue();
  });
  await page.getByRole("button", { name: "Stop" }).click();
  await toast(page, "had already ended");
  expect(await page.locator(".toast.bad").count()).toBe(0);
});

test("a message that was stored and that the task did not read before it ended is offered again", async () => {
  const { id, contextId } = await begin("sleep");
  await fetch(`${gateway.url}/runs/${id}/answer`, body("And the dolphins"));
  await using opened = await browser.page(`${gateway.url}/#/c/${contextId}`);
  const { page } = opened;
  await page.getByText("And the dolphins").waitFor();
  expect(await page.getByText("ended before it read this").count()).toBe(0);
  await gateway.engine.cancel(id);
  await page.getByRole("button", { name: "Write it again" }).click();
  expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("And the dolphins");
  expect(await accessibilityFaults(page)).toEqual([]);
});

test("a person allows a call for the rest of its task, told in words what that covers, by a button or by its key", async () => {
  const { contextId } = (await (await fetch(`${gateway.url}/flows/careful`, body("Register us"))).json()) as {
    contextId: string;
  };
  await using opened = await browser.page(`${gateway.url}/#/c/${contextId}`);
  const { page } = opened;
  const card = page.locator(".ask");
  const allow = card.getByRole("button", { name: "Allow for this task" });
  await allow.waitFor();
  expect(await card.locator(".for-task").textContent()).toBe(
    `Until the task ends, without asking again: ${proposedCall.forTask}.`,
  );
  for (const theme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    expect(await accessibilityFaults(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1440, height: 900 });
  await pressUntil(allow, async () => (await card.count()) === 0);
  await page.getByText("It was sent, and may be sent again.", { exact: true }).waitFor();
  await page.getByText(/^Allowed for this task at/).waitFor();

  await page.getByLabel("Message", { exact: true }).fill("And once more");
  await page.getByRole("button", { name: "Send" }).click();
  await card.waitFor();
  for (const deadline = Date.now() + 30_000; (await card.count()) > 0 && Date.now() < deadline; await Bun.sleep(50)) {
    await card.focus({ timeout: 1_000 }).catch(() => undefined);
    await page.keyboard.press("t");
  }
  await page.getByText("It was sent, and may be sent again.").nth(1).waitFor();
});

test("axe finds nothing where several questions of one agent wait", async () => {
  await Promise.all(["ask one", "ask another"].map(begin));
  await using opened = await browser.page(`${gateway.url}/#/waiting`);
  const { page } = opened;
  await page.locator(".ask").nth(1).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});

test("a press that does not reach the gateway says so, in the page's own words, and keeps what was written", async () => {
  await using opened = await browser.page(`${gateway.url}/#/`);
  const { page } = opened;
  const task = page.getByLabel("Task", { exact: true });
  await task.fill("Count the whales");
  await page.route("**/flows/*", (route) => route.abort("connectionrefused"));
  await task.press("Control+Enter");
  await toast(page, "The gateway cannot be reached.");
  expect(await task.inputValue()).toBe("Count the whales");
});
