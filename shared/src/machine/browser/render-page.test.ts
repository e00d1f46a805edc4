import { expect, spyOn, test } from "bun:test";
import type { Page } from "playwright";
import { browserDefaults } from "../browser-process/settings.ts";
import * as browsings from "./browsing.ts";
import { createPageRenderer } from "./render-page.ts";
import type { SurroundingsDeps } from "./surroundings.ts";

const settings = { ...browserDefaults, folder: "/nonexistent", policy: { allow: [], deny: [], only: [] } };
const signal = new AbortController().signal;

/** A renderer whose pages are `page`, how each was opened, and how many contexts were closed. */
function rendererOf(page: object, { asks = false } = {}) {
  const state = { closed: 0, deps: [] as SurroundingsDeps[], acts: [] as object[] };
  const browsing = {
    act: async (work: (page: Page) => Promise<unknown>, options: object) => {
      state.acts.push(options);
      const done = await work(page as Page);
      return asks ? undefined : done;
    },
    close: async () => void state.closed++,
  };
  const opened = spyOn(browsings, "openBrowsing").mockImplementation((async (deps: SurroundingsDeps) => {
    state.deps.push(deps);
    return browsing;
  }) as never);
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

/** A page that is found at another address, this long. */
const loaded = (length = 20, work: () => Promise<unknown> = async () => undefined) => ({
  goto: async (...all: unknown[]) => {
    asked.push(all);
    await work();
  },
  waitForLoadState: async (state: string) => void asked.push(state),
  evaluate: async () => length,
  url: () => "http://a.example/after",
  content: async () => "<p>whole</p>",
});
let asked: unknown[] = [];

test("a page is loaded in a context of nobody's, and read whole or as it was asked for, at the address it is found at", async () => {
  asked = [];
  using it = rendererOf(loaded());
  const options = { signal, timeoutMs: 9_000 };
  expect(await it.renderer.render("http://a.example/", options)).toEqual({
    ...{ url: "http://a.example/after", html: "<p>whole</p>" },
  });
  expect(asked).toEqual([["http://a.example/", { waitUntil: "domcontentloaded" }], "networkidle"]);
  const read = async (page: Page) => `seen at ${page.url()}`;
  expect((await it.renderer.render("http://a.example/", { ...options, read })).html).toBe(
    "seen at http://a.example/after",
  );
  const [{ workspace, profile, settings: given } = {} as SurroundingsDeps] = it.state.deps;
  expect([workspace, profile, given, it.state.acts[0]]).toEqual([undefined, undefined, settings, options]);
});

test("one that asks a question or has become too long is refused, with nothing left open", async () => {
  using asking = rendererOf(loaded(), { asks: true });
  const options = { signal, timeoutMs: 1_000 };
  await expect(asking.renderer.render("http://a.example/", options)).rejects.toMatchObject({ code: "unavailable" });
  using long = rendererOf(loaded(10_000_001));
  await expect(long.renderer.render("http://a.example/", options)).rejects.toMatchObject({
    ...{ code: "too_large", message: "The page has become 10000001 characters long." },
  });
  await Bun.sleep(0);
  expect([asking.renderer.busy(), long.state.closed]).toEqual([false, 1]);
  using just = rendererOf(loaded(10_000_000));
  expect((await just.renderer.render("http://a.example/", options)).html).toBe("<p>whole</p>");
});

test("pages are loaded one after the other, also after one that failed, and who cancels does not wait", async () => {
  asked = [];
  const first = Promise.withResolvers<void>();
  using it = rendererOf(loaded(20, () => first.promise));
  const render = (by = signal) => it.renderer.render("http://a.example/", { signal: by, timeoutMs: 1_000 });
  const control = new AbortController();
  const [one, two, three] = [render(), render(control.signal), render()];
  await Bun.sleep(0);
  expect([asked.length, it.renderer.busy()]).toEqual([1, true]);
  const reason = new Error("enough");
  control.abort(reason);
  expect(await two.catch((error: unknown) => error)).toBe(reason);
  expect(it.state.deps).toHaveLength(1);
  const failures = Promise.all([one, three].map((work) => work.catch(({ message }) => message)));
  first.reject(new Error("no such host"));
  expect(await failures).toEqual(["no such host", "no such host"]);
  await Bun.sleep(0);
  // What was canceled before its turn is not loaded.
  expect([asked.filter((what) => what !== "networkidle").length, it.renderer.busy()]).toEqual([2, false]);
  expect(it.state.closed).toBe(it.state.deps.length);
});
