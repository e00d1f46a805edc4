import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { BrowserContext, Page } from "playwright";
import { createSentDocuments } from "./sent-documents.ts";

const shop = "https://shop.example/cart";

/** A page, and what is asked for and shown in it. */
function pageIn(context: EventEmitter) {
  const main = { name: "main" };
  const state = { at: "about:blank", known: true, entries: [] as string[], index: 0, detached: 0 };
  const session = {
    send: async () => ({ entries: state.entries.map((url) => ({ url })), currentIndex: state.index }),
    detach: async () => void state.detached++,
  };
  const page = Object.assign(new EventEmitter(), {
    mainFrame: () => main,
    url: () => state.at,
    context: () => ({ newCDPSession: async () => session }),
  });
  const request = (method: string, url: string, { frame = main as object, navigates = true } = {}) => ({
    method: () => method,
    url: () => url,
    isNavigationRequest: () => navigates,
    frame: () => {
      if (!state.known) throw new Error("The frame is not there yet.");
      return frame;
    },
  });
  const emit = (name: string, what: object) => {
    context.emit(name, what);
    if (state.known) page.emit(name, what);
  };
  const commit = (url: string, frame: object = main) => {
    state.at = url;
    page.emit("framenavigated", frame);
  };
  const show = (method: string, url: string) => {
    emit("request", request(method, url));
    commit(url);
  };
  return { page: page as unknown as Page, state, request, emit, commit, show };
}

function scene() {
  const context = new EventEmitter();
  const sent = createSentDocuments(context as unknown as BrowserContext);
  const it = pageIn(context);
  sent.watch(it.page);
  return { context, sent, again: () => sent.anew(it.page, "again"), ...it };
}

test("a page that a form was sent to would send it again, also from another place in it, and no longer once it was read", async () => {
  const { again, show, commit } = scene();
  expect(await again()).toBeUndefined();
  show("GET", shop);
  expect(await again()).toBeUndefined();
  show("POST", shop);
  expect(await again()).toEqual({ method: "POST", url: shop });
  commit(`${shop}#total`);
  expect(await again()).toEqual({ method: "POST", url: shop });
  show("GET", "https://shop.example/");
  expect(await again()).toBeUndefined();
  // It is gone back to without being asked for.
  commit(shop);
  expect(await again()).toEqual({ method: "POST", url: shop });
  show("GET", shop);
  expect(await again()).toBeUndefined();
});

test("what is shown counts: the last of a redirect, not what became a file, nor what a frame or a script asked for", async () => {
  const { again, show, emit, request, commit, state } = scene();
  emit("request", request("POST", "https://shop.example/pay"));
  show("GET", "https://shop.example/paid");
  expect(await again()).toBeUndefined();
  show("POST", shop);
  const file = request("GET", shop);
  emit("request", file);
  emit("requestfailed", file);
  commit(shop);
  expect(await again()).toEqual({ method: "POST", url: shop });
  show("GET", "https://shop.example/list");
  for (const other of [{ frame: {} }, { navigates: false }]) {
    emit("request", request("POST", "https://shop.example/list", other));
    commit(state.at);
    expect(await again()).toBeUndefined();
  }
  emit("request", request("POST", "https://shop.example/list"));
  commit(state.at, {});
  expect(await again()).toBeUndefined();
});

test("a form that failed on its way would be sent again from the page that says so", async () => {
  const { again, show, emit, request, commit } = scene();
  show("GET", shop);
  for (const [method, wanted] of [
    ["POST", { method: "POST", url: shop }],
    ["GET", undefined],
  ] as const) {
    const one = request(method, shop);
    emit("request", one);
    emit("requestfailed", one);
    commit("chrome-error://chromewebdata/");
    expect(await again()).toEqual(wanted);
  }
});

test("what going back or forward would send is what the page there was sent, wherever in it", async () => {
  const { sent, page, show, state } = scene();
  const going = async () => [await sent.anew(page, "back"), await sent.anew(page, "forward")];
  state.entries = [`${shop}#top`, "https://shop.example/", "https://shop.example/list"];
  state.index = 1;
  expect([await going(), state.detached]).toEqual([[undefined, undefined], 0]);
  show("POST", shop);
  show("GET", "https://shop.example/");
  const posted = { method: "POST", url: shop };
  expect(await going()).toEqual([posted, undefined]);
  state.entries.reverse();
  expect(await going()).toEqual([undefined, posted]);
  state.index = 0;
  expect(await going()).toEqual([undefined, undefined]);
  expect(state.detached).toBe(6);
});

test("the form that opened a tab is known of that tab, and what other tabs ask for is not", async () => {
  const { context, sent, again } = scene();
  const [popup, other] = [pageIn(context), pageIn(context)];
  for (const [one, method] of [
    [popup, "POST"],
    [other, "GET"],
  ] as const) {
    one.state.known = false;
    one.emit("request", one.request(method, shop));
    one.emit("request", one.request(method === "GET" ? "POST" : "GET", shop, { navigates: false }));
    one.state.at = shop;
  }
  for (const one of [popup, other]) {
    one.state.known = true;
    sent.watch(one.page);
  }
  const found = [sent.anew(popup.page, "again"), sent.anew(other.page, "again"), again()];
  expect(await Promise.all(found)).toEqual([{ method: "POST", url: shop }, undefined, undefined]);
  sent.stop();
  expect(context.listenerCount("request")).toBe(0);
});

test("of very many addresses and requests the newest are kept", async () => {
  const { context, sent, show, commit, again } = scene();
  for (let n = 0; n < 201; n++) show("POST", `${shop}?n=${n}`);
  commit(`${shop}?n=0`);
  expect(await again()).toBeUndefined();
  commit(`${shop}?n=1`);
  expect(await again()).toBeDefined();
  const popups = Array.from({ length: 51 }, () => pageIn(context));
  for (const one of popups) {
    one.state.known = false;
    one.emit("request", one.request("POST", shop));
    Object.assign(one.state, { at: shop, known: true });
  }
  // What pages ask for that are known takes none of their places.
  for (let n = 0; n < 60; n++) show("GET", `${shop}?n=${n}`);
  for (const one of popups) sent.watch(one.page);
  const found = await Promise.all(popups.map(({ page }) => sent.anew(page, "again")));
  expect(found.findIndex((one) => one !== undefined)).toBe(1);
});
