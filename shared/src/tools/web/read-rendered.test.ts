import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { BrowserHost } from "../../machine/browser/browser.ts";
import { type Page, readRendered, wantsRendering } from "./read-rendered.ts";

const plain: Page = { url: "https://a.example/", title: "Plain", mediaType: "text/html", text: "as it was sent" };
const { signal } = new AbortController();
const scripts = "<html><script src=x></script></html>";

test.each<[string, string, boolean | undefined, boolean]>([
  ["x".repeat(199), scripts, undefined, true],
  ["x".repeat(200), scripts, undefined, false],
  ["", "<SCRIPT>1</SCRIPT>", undefined, true],
  ["", "<p>scripted</p><scripture>", undefined, false],
  ["", "", undefined, false],
  ["", scripts, false, false],
  ["x".repeat(900), "", true, true],
])("a page is read again when scripts seem to make it, or as asked: %#", (text, html, asked, expected) => {
  expect(wantsRendering({ ...plain, text }, html, asked)).toBe(expected);
});

/** Reads with a browser that shows this, or fails like this. */
function read(shown: string | Error, render?: boolean, by = signal) {
  const calls: unknown[] = [];
  const browser: Pick<BrowserHost, "render"> = {
    async render(url, { timeoutMs, signal, read }) {
      calls.push([url, timeoutMs, signal === by, typeof read]);
      if (typeof shown !== "string") throw shown;
      return { url: "https://a.example/after", html: shown };
    },
  };
  const options = { timeoutMs: 9_000, signal: by, ...(render !== undefined && { render }) };
  return { calls, page: readRendered(plain, browser, options) };
}
const longer =
  "<html><head><title>After</title></head><body><p>what the scripts have made of it, word by word</p></body></html>";

test("what scripts made is read at its final address, with a note; the same or less only when asked for", async () => {
  const { page, calls } = read(longer);
  expect(await page).toMatchObject({
    url: "https://a.example/after",
    title: "After",
    mediaType: "text/html",
    text: "what the scripts have made of it, word by word",
    note: "The page was read after its scripts ran.",
  });
  expect(calls).toEqual([["https://a.example/", 9_000, true, "function"]]);
  expect(await read("<p>less</p>").page).toBe(plain);
  expect(await read("<p>less</p>", true).page).toMatchObject({
    text: "less",
    note: "The page was read after its scripts ran.",
  });
});

test("without a browser, or when it fails unasked, the page is as it was sent, and the reason is told", async () => {
  expect(await readRendered(plain, undefined, { timeoutMs: 9_000, signal, render: true })).toEqual({
    ...plain,
    note: "The page may make its text by scripts, which needs a browser; there is none here.",
  });
  const failure = new AppError("unavailable", "The page crashed.");
  expect(await read(failure).page).toEqual({
    ...plain,
    note: "The page may make its text by scripts, and no browser could show it: The page crashed.",
  });
  await expect(read(failure, true).page).rejects.toBe(failure);
  const bug = new TypeError("bug");
  await expect(read(bug).page).rejects.toBe(bug);
  const reason = new Error("enough");
  await expect(read(failure, undefined, AbortSignal.abort(reason)).page).rejects.toBe(reason);
});
