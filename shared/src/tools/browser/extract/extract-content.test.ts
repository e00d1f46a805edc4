import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import type { Frame, Page } from "playwright";
import { AppError } from "../../../core/errors.ts";
import { openWeb } from "../../../core/taken-in.ts";
import type { Inquiry } from "../../../core/tools/tool.ts";
import { type BrowsersForTest, browsersForTest } from "../../../testing/browser/browsers.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import * as looking from "../../observation/looking.ts";
import { extractContent } from "./extract-content.ts";
import { piecesOf } from "./pieces.ts";
import { copyPage, readCopies } from "./read-whole-page.ts";

const words = (n: number) =>
  `<h2>Chapter ${n}</h2><p>${`In chapter ${n} there is much to tell of little use. `.repeat(30)}<a href=/c/${n}>more of ${n}</a></p>`;
const hidden = `<p style="display:none">SECRET one</p><p style="color:#fff;background:#fff">SECRET two</p><!-- SECRET three -->
  <p style="opacity:0">SECRET four</p><script>"SECRET five"</script><p style="position:absolute;left:-9999px">SECRET six</p>`;

let site: ReturnType<typeof Bun.serve>;
let kept: BrowsersForTest;
beforeAll(async () => {
  site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname } = new URL(url);
      const chapters = Array.from({ length: Number(pathname.slice(1)) }, (_, n) => words(n)).join("");
      const last =
        pathname === "/0" ? "<p>Opening hours: 9 to 5, ask for Ann.</p>" : "<h2>End</h2><p>The price is 42 EUR.</p>";
      const frame =
        pathname === "/0"
          ? `<iframe srcdoc='<p>Inside a frame</p>'></iframe><iframe hidden srcdoc='<p>SECRET seven</p>'></iframe>
          <iframe style="width:0;height:0;border:0" srcdoc='<p>SECRET eight</p>'></iframe>`
          : "";
      const html = `<!doctype html><title>A book</title><article><h1>A book</h1>${chapters}${hidden}${last}</article>${frame}`;
      return new Response(html, { headers: { "content-type": "text/html" } });
    },
  });
  kept = await browsersForTest([site.url.host]);
});
afterAll(async () => {
  await kept[Symbol.asyncDispose]();
  await site.stop(true);
});

/** The result for a page with so many chapters, and what the model was asked. */
async function extract(chapters: number, answer: (inquiry: Inquiry, n: number) => string, pieceCharacters = 4_000) {
  const conversation = `${chapters}-${Math.random()}`;
  const browsing = await kept.open(conversation);
  await browsing.active().page.goto(`${site.url.origin}/${chapters}`);
  const asked: Inquiry[] = [];
  const ask = async (inquiry: Inquiry) => answer(inquiry, asked.push(inquiry) - 1);
  const tool = extractContent({ browsers: kept.browsers, pieceCharacters });
  const workspace = await kept.workspace(conversation);
  const result = await tool.call({ goal: "What does it cost?" }, contextForTest(workspace, { ask }));
  await kept.browsers.release(workspace);
  return { ...result, asked };
}

test("a long page is read to its end in pieces, its hidden texts left out, and the answers merged", async () => {
  const { text, asked, isError } = await extract(8, ({ instructions, text }) =>
    instructions.includes("Make one answer")
      ? "MERGED"
      : text.includes("42 EUR")
        ? "42 EUR"
        : text.includes("Chapter 0")
          ? "a book"
          : "NOTHING",
  );
  expect(isError).toBe(false);
  expect(text).toStartWith("From the whole page:\n<web-content from=");
  expect(text).toContain("MERGED");
  const read = asked.map((inquiry) => inquiry.text).join("\n");
  expect(asked.length).toBeGreaterThan(3);
  for (const n of [0, 3, 7]) expect(read).toContain(`/c/${n})`);
  expect(read).not.toContain("SECRET");
  expect(asked.every((inquiry) => inquiry.text.startsWith("Goal: What does it cost?\n\n"))).toBe(true);
});

test("a page with nothing for the goal says so", async () => {
  const { text } = await extract(3, () => "NOTHING");
  expect(text).toBe("From the whole page:\nNothing on the page serves the goal.");
});

test("a short page is returned whole, frames included, without asking the model", async () => {
  const { text, asked } = await extract(0, () => "never");
  expect(asked).toEqual([]);
  expect(text).toContain("Opening hours: 9 to 5, ask for Ann.");
  expect(text).toContain("Inside a frame");
  expect(text).not.toContain("SECRET");
});

test("the result says what was not read: beyond the limit of one call, or once the model cannot be asked any more", async () => {
  const many = await extract(20, () => "part", 1_000);
  expect(many.asked).toHaveLength(13);
  expect(many.text).toMatch(/Not read: the last \d+ characters of the page's text \(one call reads at most 12 parts\)/);
  const poor = await extract(8, (_, n) => {
    if (n < 2) return `found ${n}`;
    throw new AppError("token_limit", "The bound is reached.");
  });
  expect(poor.text).toMatch(
    /From the first 2 of \d+ parts:[\s\S]*found 0[\s\S]*found 1[\s\S]*Not read: .*The bound is reached\./,
  );
  const none = await extract(8, () => {
    throw new AppError("token_limit", "The bound is reached.");
  });
  expect([none.isError, none.text.includes("Not read")]).toEqual([true, true]);
});

test("without an open page the result says how to open one", async () => {
  const tool = extractContent({ browsers: kept.browsers, pieceCharacters: 1_000 });
  const { text, isError } = await tool.call({ goal: "x" }, contextForTest(await kept.workspace("nothing open")));
  expect([isError, text]).toEqual([true, "No page is open. Open one with browser_go_to_url first."]);
});

test("the pieces contain the whole text, cut at pauses and never within a character", () => {
  const text = "one two\n\nthree 😀😀😀 four\nfive".repeat(20);
  const pieces = piecesOf(text, 40);
  expect(pieces.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
  expect(pieces.every((piece) => piece.length <= 40 && piece.isWellFormed())).toBe(true);
  expect(piecesOf("😀".repeat(30), 7).every((piece) => piece.isWellFormed())).toBe(true);
});

test("copies that are too large, or of which little is left when they are converted, are read as plain text", async () => {
  const { signal } = new AbortController();
  const read = (html: string, text: string, end = signal) =>
    readCopies({ url: "https://a.example/", copies: [{ html, text }] }, end);
  expect(await read("x".repeat(8_000_001), "plain")).toEqual({ url: "https://a.example/", title: "", text: "plain" });
  const words = "what a reader sees ".repeat(20).trim();
  expect((await read(`<title>T</title><p>${words.slice(0, 90)}</p>`, words)).text).toBe(words);
  expect((await read(`<title>T</title><p>${words} <b>all</b></p>`, words)).text).toContain("**all**");
  const gone = new Error("enough");
  await expect(read("<p>x</p>", "x", AbortSignal.abort(gone))).rejects.toBe(gone);
});

test("reading a page repeats nothing, brings what the web says, and is one call at a time on the page", () => {
  const tool = extractContent({ browsers: kept.browsers, pieceCharacters: 1_000 });
  expect([tool.effect({}), tool.brings, tool.parallel, tool.onPage]).toEqual(["idempotent", [openWeb], false, {}]);
});

test("a page is copied with seven of its frames, without those that are not shown or cannot be read", async () => {
  using unseen = spyOn(looking, "unseenTextOf").mockImplementation((async (frame: { name: string }) => [
    `unseen in ${frame.name}`,
  ]) as never);
  const frameNamed = (name: string, { isVisible = true, fails = false } = {}) => ({
    name,
    frameElement: async () => ({ isVisible: async () => isVisible }),
    evaluate: async (_: unknown, texts: readonly string[]) => {
      if (fails) throw new Error(`${name} is gone.`);
      return { html: name, text: texts.join() };
    },
  });
  const copied = async (main: ReturnType<typeof frameNamed>, ...inner: ReturnType<typeof frameNamed>[]) => {
    const frames = [...inner.slice(0, 1), main, ...inner.slice(1)] as unknown as Frame[];
    const page = { url: () => "https://a.example/", frames: () => frames, mainFrame: () => frames[1] };
    const { url, copies } = await copyPage(page as unknown as Page);
    return [url, ...copies.map(({ html, text }) => `${html}: ${text}`)];
  };
  const shown = Array.from({ length: 9 }, (_, n) => frameNamed(`f${n}`));
  const main = frameNamed("main", { isVisible: false });
  expect(await copied(main, ...shown)).toEqual([
    "https://a.example/",
    ...["main", "f0", "f1", "f2", "f3", "f4", "f5", "f6"].map((name) => `${name}: unseen in ${name}`),
  ]);
  expect(unseen).toHaveBeenCalledTimes(8);
  const parts = [frameNamed("gone", { fails: true }), frameNamed("folded", { isVisible: false }), frameNamed("there")];
  expect(await copied(main, ...parts)).toEqual([
    "https://a.example/",
    "main: unseen in main",
    "there: unseen in there",
  ]);
  await expect(copied(frameNamed("main", { fails: true }), ...parts)).rejects.toThrow("main is gone.");
});

test("who cancels while a page is read gets the signal's own reason", async () => {
  const control = new AbortController();
  const reason = new Error("enough");
  const act = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    expect(signal).toBe(control.signal);
    control.abort(reason);
    return { url: "https://a.example/", copies: [{ html: "<p>x</p>", text: "x" }] };
  };
  const tool = extractContent({ browsers: { peek: () => ({ act }) } as never, pieceCharacters: 1_000 });
  const context = contextForTest({} as never, { signal: control.signal });
  await expect(tool.call({ goal: "x" }, context)).rejects.toBe(reason);
});
