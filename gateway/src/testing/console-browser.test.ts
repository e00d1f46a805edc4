import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ConsoleBrowser, openBrowser } from "./console-browser.ts";
import { startGateway, type TestGateway } from "./gateway.ts";

let gateway: TestGateway;
let browser: ConsoleBrowser;
beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

const load = (from: string) =>
  `new Promise((over) => { const picture = new Image(); picture.onerror = over; picture.src = "${from}"; })`;

/** What closing a page says after it has done this; undefined if nothing. */
async function complaintOf(path: string, code: string): Promise<string | undefined> {
  const { page, ...opened } = await browser.page(`${gateway.url}${path}`);
  await page.evaluate(`${code}.then(() => 0)`);
  return opened[Symbol.asyncDispose]().then(
    () => undefined,
    (error) => error.message,
  );
}

test("what the policy of a page of the console refuses is a complaint of the page", async () => {
  expect(await complaintOf("/", load("https://elsewhere.invalid/a.png"))).toBe(
    "the page complained: The policy of this page refused https://elsewhere.invalid/a.png (img-src)",
  );
});

test("what the policy of the frame for pages of agents refuses is none, wherever the browser says that it was", async () => {
  expect(await complaintOf("/frame", load("https://elsewhere.invalid/a.png"))).toBeUndefined();
  const told = "Loading the image 'x' violates the following Content Security Policy directive: \"img-src data:\".";
  expect(await complaintOf("/", `Promise.resolve(console.error(${JSON.stringify(told)}))`)).toBeUndefined();
  const wrong = "The Content Security Policy directive 'x' is unknown.";
  expect(await complaintOf("/", `Promise.resolve(console.error(${JSON.stringify(wrong)}))`)).toContain(wrong);
});
