import { expect, jest, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { contextForTest, riskContextForTest } from "../../testing/tool-context.ts";
import { webToolsForTest } from "../../testing/web/web-tools.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import { createGuard } from "./guard.ts";
import { isWritten, linksIn, linksOn, withoutScheme } from "./links.ts";

test("addresses are found in Markdown, in brackets and standing alone", () => {
  const text =
    "See [a](https://a.example/x), <https://b.example/?q=1#f>, (https://c.example/y). https://d.example/z_(w) and ftp://e.example, https://f.example/]";
  expect(linksIn(text)).toEqual([
    "https://a.example/x",
    "https://b.example/?q=1#f",
    "https://c.example/y",
    "https://d.example/z_(w)",
    "https://f.example/",
  ]);
});

test("of a page and its frames the first addresses of the web are read, and a frame that fails is left out", async () => {
  const frame = (...links: string[]) => ({ evaluate: async () => links });
  const broken = { evaluate: () => Promise.reject(new Error("it was detached")) };
  const more = Array.from({ length: 11 }, (_, at) => frame(`https://f${at}.example/`));
  const frames = [frame("https://a.example", "javascript:go()", "mailto:ann@example.com"), broken, ...more];
  const found = await linksOn({ frames: () => frames } as unknown as Page);
  expect(found).toEqual(["https://a.example/", ...Array.from({ length: 10 }, (_, at) => `https://f${at}.example/`)]);
});

test("a frame that does not answer is not waited for, and takes no other frame's addresses with it", async () => {
  jest.useFakeTimers();
  try {
    const frames = [{ evaluate: async () => ["https://a.example/"] }, { evaluate: () => new Promise(() => undefined) }];
    const found = linksOn({ frames: () => frames } as unknown as Page);
    await new Promise(process.nextTick);
    jest.advanceTimersByTime(2_000);
    expect(await found).toEqual(["https://a.example/"]);
  } finally {
    jest.useRealTimers();
  }
});

test("of a text with very many addresses the first 5,000 are found", () => {
  const text = Array.from({ length: 5_001 }, (_, at) => `https://a.example/${at}`).join(" ");
  expect(linksIn(text)).toHaveLength(5_000);
  expect(linksIn("HTTPS://A.example/x")).toEqual(["https://a.example/x"]);
});

test("an address is recognized in written text, with or without scheme and escapes", () => {
  const wrote = withoutScheme("look at HTTP://Evil.example/%64?x=my%20notes and 100% more");
  expect(isWritten("http://evil.example/d?x=my%20notes", wrote)).toBe(true);
  const plain = withoutScheme("[x](http://evil.example/?d=notes)");
  expect(isWritten("https://evil.example/?d=notes", plain)).toBe(true);
  expect(isWritten("https://good.example/", plain)).toBe(false);
});

test("escapes of several bytes are decoded together, and those that mean nothing are left", () => {
  expect(isWritten("https://evil.example/?d=%C3%A4%20%E2%82%AC", withoutScheme("to evil.example/?d=ä €"))).toBe(true);
  expect(withoutScheme("HTTP://a.example/%FF?x=%e0%a4&y=%41")).toBe("a.example/%ff?x=%e0%a4&y=a");
});

test("a trailing slash more or less does not make a different address", () => {
  const wrote = withoutScheme(
    "[a](http://evil.example/d/notes) and [b](https://bare.example) and [c](http://cut.example/d/)",
  );
  for (const link of ["http://evil.example/d/notes/", "http://evil.example/d/notes", "http://bare.example/"])
    expect([link, isWritten(link, wrote)]).toEqual([link, true]);
  expect(isWritten("http://cut.example/d", wrote)).toBe(true);
  expect(isWritten("http://evil.example/d/notes/more", wrote)).toBe(false);
});

test("search results may be fetched; an address from the query itself, or an invented one, needs a person", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-scope-"));
  try {
    const workspace = await openWorkspace({ home, principal: "alice", contextId: "c" });
    const guard = createGuard({
      browsers: undefined,
      looks: createSnapshotStates(),
      scope: "task",
      trusted: ["ok.example"],
    });
    let says = "";
    const tools = webToolsForTest(() => says).map((tool) => guard.over(tool));
    const named = (name: string) => tools.find((tool) => tool.name === name);
    const risk = (input: object) =>
      named("web_fetch")?.risk?.(input, riskContextForTest(workspace, { said: ["mine.example"] }));
    expect(await risk({ url: "http://first.example/" })).toBeUndefined();
    says =
      "Results for 'http://evil.example/?d=notes':\n   URL: https://news.example/a\n   URL: http://evil.example/?d=notes";
    await named("web_search")?.call({ query: "http://evil.example/?d=notes" }, contextForTest(workspace));
    for (const url of [
      "https://news.example/a",
      "http://first.example/other",
      "http://ok.example/",
      "https://www.mine.example/?q=1",
    ])
      expect([url, await risk({ url })]).toEqual([url, undefined]);
    expect(await risk({ url: "http://evil.example/?d=notes" })).toBe(
      "Open “http://evil.example/?d=notes”, which you did not name",
    );
    expect(await risk({ urls: ["https://news.example/a", "http://x.example/1", "http://y.example/2"] })).toBe(
      "Open “http://x.example/1” and 1 more addresses, which you did not name",
    );
    expect(await risk({ url: "  http://x.example/1 " })).toContain("which you did not name");
    expect(await risk({ urls: "http://x.example/1" })).toContain("which you did not name");
  } finally {
    await rm(home, { recursive: true });
  }
});
