import { expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page } from "playwright";
import { createPatience, stillLoading } from "./patience.ts";

/** A page, and requests of it. */
function scene() {
  const main = { name: "main" };
  const page = Object.assign(new EventEmitter(), { mainFrame: () => main }) as unknown as Page & EventEmitter;
  const patience = createPatience(9_000);
  patience.watch(page);
  const request = (url: string, { frame = main as unknown, navigates = true, type = "document" } = {}) => ({
    resourceType: () => type,
    url: () => url,
    isNavigationRequest: () => navigates,
    frame: () => {
      if (frame === undefined) throw new Error("no frame yet");
      return frame;
    },
  });
  const ask = (one: ReturnType<typeof request>) => page.emit("request", one);
  const at = () => patience.loading(page)?.url;
  return { page, main, patience, request, ask, at };
}

test("a page is loading from its request until it is there, failed or ended, whatever else is asked for meanwhile", () => {
  const { page, main, request, ask, at } = scene();
  expect(at()).toBeUndefined();
  for (const ends of ["requestfailed", "requestfinished"]) {
    const one = request("http://a.example/");
    ask(one);
    page.emit(ends, request("http://a.example/picture"));
    page.emit("framenavigated", {});
    expect(at()).toBe("http://a.example/");
    page.emit(ends, one);
    expect([ends, at()]).toEqual([ends, undefined]);
  }
  ask(request("http://a.example/"));
  page.emit("framenavigated", main);
  expect(at()).toBeUndefined();
});

test("what a frame, a script or a worker asks for is not the page", () => {
  const { request, ask, at } = scene();
  ask(request("http://a.example/", { frame: {} }));
  ask(request("http://a.example/", { navigates: false }));
  ask(request("http://a.example/", { frame: null }));
  const orphan = request("http://a.example/");
  orphan.frame = () => {
    throw new Error("The frame is not there yet.");
  };
  ask(orphan);
  expect(at()).toBeUndefined();
});

test("a redirect is waited for since the first request, and told by its newest address", () => {
  const { page, patience, request, ask } = scene();
  const now = performance.now;
  try {
    performance.now = () => 1_000;
    const first = request("http://a.example/");
    ask(first);
    performance.now = () => 5_400;
    ask(request("http://b.example/"));
    page.emit("requestfinished", first);
    performance.now = () => 8_000;
    expect(patience.loading(page)).toEqual({ url: "http://b.example/", seconds: 7 });
  } finally {
    performance.now = now;
  }
  const told = stillLoading({ url: `http://b.example/${"x".repeat(400)}`, seconds: 7 });
  expect(told).toMatchObject({ code: "timeout" });
  expect(told.message).toMatch(/^The page http:\/\/b\.example\/x{283} is still loading after 7 s, and stays open/);
});

test("a page that does not answer is left open once, and once more after it has answered", () => {
  const { page, patience } = scene();
  const other = new EventEmitter() as unknown as Page;
  expect([patience.leavesOpen(page), patience.leavesOpen(page), patience.leavesOpen(other)]).toEqual([
    true,
    false,
    true,
  ]);
  patience.answered(page);
  expect([patience.leavesOpen(page), patience.leavesOpen(page), patience.leavesOpen(other)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(patience.maxMs).toBe(9_000);
});

test("scripts are asking for something until it has come or failed, and not of what is kept open", () => {
  const { page, patience, request, ask } = scene();
  const at = jest.spyOn(performance, "now");
  try {
    at.mockReturnValue(1_000);
    ask(request("http://a.example/picture", { navigates: false, type: "image" }));
    expect(patience.isAsking(page)).toBe(false);
    for (const [type, ends] of [
      ["fetch", "requestfinished"],
      ["xhr", "requestfailed"],
    ] as const) {
      const one = request("http://a.example/rows", { navigates: false, type });
      ask(one);
      expect(patience.isAsking(page)).toBe(true);
      page.emit(ends, one);
      expect(patience.isAsking(page)).toBe(false);
    }
    ask(request("http://a.example/poll", { navigates: false, type: "fetch" }));
    at.mockReturnValue(4_000);
    expect(patience.isAsking(page)).toBe(false);
  } finally {
    at.mockRestore();
  }
});
