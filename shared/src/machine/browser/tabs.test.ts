import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { BrowserContext, Page } from "playwright";
import { guardNavigation } from "./navigation-guard.ts";
import { createNotices } from "./notices.ts";
import { openTabs } from "./tabs.ts";

type TestPage = Page & EventEmitter & { address: string; stuck: boolean };

/**
 * A context whose pages close, crash and open others; `front` are those that were brought to the
 * front.
 */
async function scene(most = 3) {
  const front: Page[] = [];
  const context = new EventEmitter() as unknown as BrowserContext & EventEmitter;
  const newPage = () => {
    const page = new EventEmitter() as unknown as TestPage;
    let closed = false;
    Object.assign(page, {
      address: "about:blank",
      stuck: false,
      url: () => page.address,
      isClosed: () => closed,
      mainFrame: () => page,
      bringToFront: async () => void front.push(page),
      goto: async () => {
        if (page.stuck) throw new Error("no");
        page.address = "about:blank";
      },
      close: async () => {
        if (closed) return;
        closed = true;
        page.emit("close");
      },
    });
    context.emit("page", page);
    return page;
  };
  const routes: string[] = [];
  Object.assign(context, { newPage: async () => newPage(), route: async (what: string) => void routes.push(what) });
  const notices = createNotices();
  const watched: Page[] = [];
  let last = 4;
  const tabs = await openTabs(context, { most, nextId: () => ++last, notices, watch: (page) => watched.push(page) });
  const ids = () => tabs.all().map(({ id }) => id);
  return { context, newPage, notices, watched, tabs, ids, front, routes };
}

test("a tab that a page opens is the active one, and is told; one that nobody opened is not", async () => {
  const { tabs, newPage, notices, ids, watched } = await scene();
  const first = tabs.active().page as TestPage;
  newPage();
  expect([tabs.active().id, ids()]).toEqual([5, [5, 6]]);
  first.emit("popup", newPage());
  expect([tabs.active().id, notices.take(), watched.length]).toEqual([
    7,
    ["The page opened tab 7, which is the active one now."],
    3,
  ]);
  expect(tabs.of(first)?.id).toBe(5);
});

test("no more tabs are open than allowed: a page's own is closed, and one that is asked for is refused", async () => {
  const { tabs, newPage, notices, ids } = await scene(2);
  await tabs.open();
  const page = newPage();
  expect([page.isClosed(), ids(), notices.take()]).toEqual([
    true,
    [5, 6],
    ["A tab that a page opened was closed at once: there are 2 already."],
  ]);
  (tabs.active().page as TestPage).emit("popup", page);
  expect([tabs.active().id, notices.take()]).toEqual([6, []]);
  await expect(tabs.open()).rejects.toMatchObject({
    code: "conflict",
    message: "There are 2 tabs, which is the most. Close one first.",
  });
});

test("a tab is chosen and closed by its number, and an unknown number names those that are there", async () => {
  const { tabs, front, ids } = await scene();
  const { page } = await tabs.open();
  expect(tabs.active().page).toBe(page);
  const chosen = await tabs.activate(5);
  expect([tabs.active(), front]).toEqual([chosen, [chosen.page]]);
  for (const work of [tabs.activate(9), tabs.close(9)])
    await expect(work).rejects.toMatchObject({ code: "not_found", message: "There is no tab 9. The tabs are 5, 6." });
  await tabs.open();
  await tabs.activate(6);
  await tabs.close(5);
  expect([tabs.active().id, ids()]).toEqual([6, [6, 7]]);
});

test("when the last tab closes an empty one takes its place, and a crashed one is closed and told", async () => {
  const { tabs, notices, ids } = await scene();
  await tabs.close(5);
  expect(ids()).toEqual([6]);
  const { page } = tabs.active();
  (page as TestPage).emit("crash");
  await tabs.ready();
  expect([page.isClosed(), ids(), notices.take()]).toEqual([
    true,
    [7],
    ["The page of tab 6 crashed, and the tab was closed."],
  ]);
});

test.each([
  ["https://a.example/", true],
  ["http://a.example/", true],
  ["HTTP://a.example/", true],
  ["about:blank", true],
  ["about:blank#x", true],
  ["about:blank?x", true],
  ["", true],
  [":", true],
  ["blob:https://a.example/1", true],
  ["chrome-error://chromewebdata/", true],
  ["about:blankets", false],
  ["about:version", false],
  ["blob:null/1", false],
  ["data:text/html,x", false],
  ["file:///etc/passwd", false],
  ["chrome://version", false],
  ["view-source:https://a.example/", false],
  ["ftp://a.example/", false],
])("a page at %p may stay: %p", async (address, stays) => {
  const { context, newPage, notices, routes } = await scene();
  const guard = await guardNavigation(context, notices);
  expect(routes).toEqual(["file:///**"]);
  const page = newPage();
  guard.watch(page);
  page.address = address;
  page.emit("framenavigated", {});
  expect(notices.take()).toEqual([]);
  page.emit("framenavigated", page);
  expect(await guard.left(page)).toBe(stays ? undefined : address);
  expect([page.address, await guard.left(page)]).toEqual([stays ? address : "about:blank", undefined]);
  expect(notices.take()).toEqual(
    stays ? [] : [`The page at ${address} was left: only http and https pages may be opened.`],
  );
});

test("a page that moves to a forbidden address by itself, or opens there, is led away without an act", async () => {
  const { context, newPage, notices } = await scene();
  const guard = await guardNavigation(context, notices);
  const page = newPage();
  guard.watch(page);
  page.address = "chrome://version";
  page.emit("framenavigated", page);
  await Bun.sleep(0);
  expect(page.address).toBe("about:blank");
  const other = newPage();
  other.address = "data:text/html,x";
  guard.watch(other);
  await Bun.sleep(0);
  expect(other.address).toBe("about:blank");
});

test("a page that cannot be led away from a forbidden address is closed, and its address is told cut", async () => {
  const { context, newPage, notices } = await scene();
  const guard = await guardNavigation(context, notices);
  const page = newPage();
  page.stuck = true;
  page.address = `data:${"x".repeat(200)}`;
  guard.watch(page);
  expect(await guard.left(page)).toBe(page.address.slice(0, 100));
  expect(page.isClosed()).toBe(true);
});
