import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright";
import { serveCard } from "../testing/card-server.ts";
import { type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { startGateway } from "../testing/gateway.ts";

/** It turns what follows around, rings, begins a sequence, and would be an element. */
const hostile = "\u202egnp.exe\u0007\u009b<img src=x onerror=window.hacked=1>";

let browser: ConsoleBrowser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

/**
 * What of a page would mislead its reader: texts and attributes with characters that are not seen.
 */
const misleading = (page: Page) =>
  page.evaluate(`(() => {
    const unseen = /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]/;
    const found = unseen.test(document.title) ? ["title"] : [];
    for (const element of document.querySelectorAll("*")) {
      const shown = [...element.attributes].filter(({ name }) => !name.startsWith("data-"));
      for (const { name, value } of shown) if (unseen.test(value)) found.push(element.tagName + " " + name);
      for (const node of element.childNodes)
        if (node.nodeType === 3 && unseen.test(node.data)) found.push(element.tagName + " " + node.data.slice(0, 80));
    }
    return [...found, ...(window.hacked === undefined ? [] : ["a script ran"])];
  })()`);

test("what a stranger's agent calls itself, and what a file is called, is shown as it is written", async () => {
  await using gateway = await startGateway();
  await using agent = serveCard(`Greeter ${hostile}`);
  await gateway.registry.add({ url: agent.url });
  const body = JSON.stringify({
    input: { text: `Count ${hostile}`, files: [{ name: `sum${hostile.replaceAll("/", "")}`, bytes: "NDI=" }] },
    contextId: "named",
  });
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  const { id } = (await (await fetch(`${gateway.url}/flows/echo`, { method: "POST", headers, body })).json()) as {
    id: string;
  };
  await using opened = await browser.page(`${gateway.url}/#/`);
  const { page } = opened;
  await page.getByRole("button", { name: "Flow or agent" }).click();
  await page.getByRole("menuitemradio", { name: "Greeter" }).waitFor();
  expect(await misleading(page)).toEqual([]);
  await page.getByRole("menuitemradio", { name: "Greeter" }).click();
  expect(await misleading(page)).toEqual([]);
  for (const [place, shown] of [
    ["agents", "Greeter"],
    ["runs", "Count"],
    ["c/named", "sum"],
    [`runs/${id}`, "Count"],
    [`runs/${id}?tab=files`, "sum"],
  ] as const) {
    await page.goto(`${gateway.url}/#/${place}`);
    await page.getByText(shown).first().waitFor();
    expect([place, await misleading(page)]).toEqual([place, []]);
  }
});

test("an answer of a hundred thousand lines is shown", async () => {
  await using gateway = await startGateway();
  const body = JSON.stringify({
    input: { text: `${"\n".repeat(150_000)}# a${" ".repeat(100_000)}x` },
    contextId: "long",
  });
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  await fetch(`${gateway.url}/flows/echo`, { method: "POST", headers, body });
  await using opened = await browser.page(`${gateway.url}/#/c/long`);
  await opened.page.locator(".markdown").first().waitFor({ timeout: 8_000 });
});
