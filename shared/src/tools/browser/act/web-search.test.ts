import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";
import type { BrowserSearch } from "./web-search.ts";

const queries: string[] = [];
const search: BrowserSearch = async (query) => {
  queries.push(query);
  if (query === "nothing") return [];
  const hit = (title: string, path: string) => ({ title, url: `${desk.url}${path}`, description: `About ${title}` });
  return [hit("First", "/first"), hit("Second", "/second")];
};
const desk = await startDesk({ "/first": "<title>First page</title><button>Here</button>" }, {}, search);
afterAll(() => desk[Symbol.asyncDispose]());

test("the first result is opened and the others are listed", async () => {
  const { text, isError } = await desk.call("web_search", { query: " tea shops " });
  expect({ isError, queries }).toEqual({ isError: false, queries: ["tea shops"] });
  expect(text).toStartWith(`The page is now ${desk.url}/first "First page".`);
  expect(text).toContain(`- Second\n  ${desk.url}/second\n  About Second`);
  expect(refOf((await desk.see()).text, "Here")).toMatch(/^e\d+$/);
});

test("without results nothing is opened, and the result says so", async () => {
  const before = desk.browsing().active().page.url();
  const { text, isError } = await desk.call("web_search", { query: "nothing" });
  expect({ text, isError }).toEqual({ text: "No search engine gave results for 'nothing'.", isError: true });
  expect(desk.browsing().active().page.url()).toBe(before);
});
