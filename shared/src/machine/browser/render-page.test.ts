import { expect, spyOn, test } from "bun:test";
import type { Page } from "playwright";
import { browserDefaults } from "../browser-process/settings.ts";
import * as browsings from "./browsing.ts";
import { createPageRenderer } from "./render-page.ts";

const settings = { ...browserDefaults, folder: "/nonexistent", policy: { allow: [], deny: [], only: [] } };
const signal = new AbortController().signal;

/** A renderer whose pages are `page`, what was asked, and how many contexts were closed. */
function rendererOf(page: object) {
  const state = { closed: 0 };
  const browsing = {
    act: (work: (page: Page) => Promise<unknown>) => work(page as Page),
    close: async () => void state.closed++,
  };
  const opened = spyOn(browsings, "openBrowsing").mockImplementation((async () => browsing) as never);
  const renderer = createPageRenderer(async () => ({}) as never, settings);
  return { state, renderer, [Symbol.dispose]: () => opened.mockRestore() };
}

test("a document is printed under a policy by which nothing is loaded and no script runs", async () => {
  const asked: unknown[] = [];
  using it = rendererOf({
    setContent: async (...all: unknown[]) => void asked.push(all),
    pdf: async (options: object) => {
      asked.push(options);
      return new Uint8Array([1]);
    },
  });
  const printing = it.renderer.print("<html><head><title>a</title></head></html>", { signal, timeoutMs: 1_000 });
  expect(it.renderer.busy()).toBe(true);
  expect(await printing).toEqual(new Uint8Array([1]));
  expect(it.renderer.busy()).toBe(false);
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:";
  expect(asked).toEqual([
    [
      `<html><head><meta http-equiv="Content-Security-Policy" content="${policy}"><title>a</title></head></html>`,
      { waitUntil: "load" },
    ],
    expect.objectContaining({ format: "A4", printBackground: true }),
  ]);
  await Bun.sleep(0);
  expect(it.state.closed).toBe(1);
});
