import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { BrowserContext, Page } from "playwright";
import { createNotices } from "./notices.ts";
import { openTabs, type TabsOptions } from "./tabs.ts";

type PageForTest = EventEmitter & {
  closed: boolean;
  fronted: number;
  isClosed(): boolean;
  close(): Promise<void>;
  bringToFront(): Promise<void>;
};

/**
 * A context whose pages close when told, and open unless `fails`; the next so many `closing` ones
 * close while they open.
 */
function contextForTest() {
  const state = { fails: false, closing: 0 };
  const make = () => {
    const page: PageForTest = Object.assign(new EventEmitter(), {
      fronted: 0,
      closed: false,
      isClosed: () => page.closed,
      close: async () => {
        page.closed = true;
        page.emit("close");
      },
      bringToFront: async () => void page.fronted++,
    });
    context.emit("page", page);
    return page;
  };
  const context = Object.assign(new EventEmitter(), {
    async newPage() {
      if (state.fails) throw new Error("The browser is busy.");
      const page = make();
      if (state.closing-- > 0) await page.close();
      return page;
    },
  });
  return { state, make, context: context as unknown as BrowserContext };
}

/** The tabs of such a context, at most three. */
async function scene(changes: Partial<TabsOptions> = {}) {
  const { context, ...rest } = contextForTest();
  const notices = createNotices();
  let id = 0;
  const options = { most: 3, nextId: () => ++id, notices, watch: async () => {}, ownsAll: true, ...changes };
  const tabs = await openTabs(context, options);
  const ids = () => tabs.all().map((tab) => tab.id);
  const pageOf = (one: number) => tabs.all().find((tab) => tab.id === one)?.page as unknown as PageForTest;
  return { ...rest, tabs, notices, ids, pageOf, active: () => tabs.active().id };
}

test("a tab that could not be opened in place of the last one is opened when it is needed", async () => {
  const { state, tabs } = await scene();
  state.fails = true;
  await tabs.close(tabs.active().id);
  await expect(tabs.ready()).rejects.toMatchObject({ code: "unavailable", cause: new Error("The browser is busy.") });
  expect(() => tabs.active()).toThrow("The last tab has just closed.");
  state.fails = false;
  await tabs.ready();
  expect(tabs.active().id).toBe(2);
});

test("when the last tab was closed another is there at once", async () => {
  const { context, ...rest } = contextForTest();
  const { newPage } = context;
  const slow = Object.assign(context, {
    async newPage() {
      await Bun.sleep(1);
      return await newPage.call(context);
    },
  });
  let id = 0;
  const options = { most: 3, nextId: () => ++id, notices: createNotices(), watch: async () => {}, ownsAll: true };
  const tabs = await openTabs(slow, options);
  await tabs.close(1);
  expect([tabs.all().map((tab) => tab.id), rest.state.fails]).toEqual([[2], false]);
});

test("a tab that the browser closes with the last one while it opens is opened again, and only one is", async () => {
  const { state, tabs, ids } = await scene();
  state.closing = 2;
  await tabs.close(1);
  expect(ids()).toEqual([4]);
  state.closing = 1;
  await expect(tabs.open()).rejects.toMatchObject({
    ...{ code: "unavailable", message: "The tab was closed while it was opened." },
  });
  expect(ids()).toEqual([4]);
});

test("whoever needs a tab while one is opened in place of the last waits for that one", async () => {
  const { state, tabs, ids } = await scene();
  state.fails = true;
  await tabs.close(1);
  state.fails = false;
  await Promise.all([tabs.ready(), tabs.ready()]);
  expect(ids()).toEqual([2]);
});

test("a tab that closes before it could be watched holds up no other", async () => {
  const closing = Promise.withResolvers<void>();
  let watched = 0;
  const { tabs, make, ids } = await scene({ watch: () => (watched++ === 1 ? closing.promise : Promise.resolve()) });
  const popup = make();
  const ready = tabs.ready();
  await popup.close();
  closing.reject(new Error("The page has been closed."));
  await ready;
  await tabs.ready();
  expect([ids(), (await tabs.open()).id]).toEqual([[1], 3]);
});

test("the tab opened or chosen last is the active one, and when it closes the newest is", async () => {
  const { tabs, active, ids, pageOf } = await scene();
  expect((await tabs.open()).id).toBe(2);
  expect((await tabs.open()).id).toBe(3);
  expect(active()).toBe(3);
  expect((await tabs.activate(1)).id).toBe(1);
  expect([active(), pageOf(1).fronted, pageOf(2).fronted]).toEqual([1, 1, 0]);
  await tabs.close(1);
  expect([active(), ids()]).toEqual([3, [2, 3]]);
  await tabs.activate(2);
  await tabs.close(3);
  expect([active(), ids()]).toEqual([2, [2]]);
  await tabs.close(2);
  expect(ids()).toEqual([4]);
  for (const use of [tabs.activate(3), tabs.close(3)])
    await expect(use).rejects.toMatchObject({ code: "not_found", message: "There is no tab 3. The tabs are 4." });
});

test("what a page opens is the active tab, until there are as many as allowed; then it is closed at once", async () => {
  const { tabs, active, ids, pageOf, make, notices } = await scene();
  const popup = make();
  pageOf(1).emit("popup", popup);
  expect([active(), ids()]).toEqual([2, [1, 2]]);
  expect(notices.take()).toEqual(["The page opened tab 2, which is the active one now."]);
  await tabs.open();
  const fourth = make();
  pageOf(1).emit("popup", fourth);
  expect([active(), ids()]).toEqual([3, [1, 2, 3]]);
  expect(notices.take()).toEqual(["A tab that a page opened was closed at once: there are 3 already."]);
  await expect(tabs.open()).rejects.toMatchObject({
    code: "conflict",
    message: "There are 3 tabs, which is the limit. Close one first.",
  });
  await tabs.close(1);
  expect((await tabs.open()).id).toBe(4);
});

test("in the user's own context only what was opened here, or by that, is a tab", async () => {
  const { ids, make, pageOf, tabs } = await scene({ ownsAll: false });
  const strange = make();
  expect(ids()).toEqual([1]);
  expect(tabs.of(strange as unknown as Page)).toBeUndefined();
  const popup = make();
  pageOf(1).emit("popup", popup);
  expect([ids(), tabs.of(popup as unknown as Page)?.id]).toEqual([[1, 2], 2]);
});

test("a tab is used only when it is watched, and one that cannot be is told", async () => {
  let watched = 0;
  const gate = Promise.withResolvers<void>();
  const { tabs } = await scene({
    watch: async () => {
      if (watched++ === 1) await gate.promise;
    },
  });
  const opening = tabs.open();
  const both = await Promise.race([opening.then(() => "open"), Bun.sleep(5).then(() => "not yet")]);
  expect(both).toBe("not yet");
  gate.reject(new Error("It cannot be watched."));
  await expect(opening).rejects.toThrow("It cannot be watched.");
  await expect(tabs.ready()).rejects.toThrow("It cannot be watched.");
});

test("a tab whose page crashed is closed and told, and closing all of them opens no other", async () => {
  const { tabs, ids, pageOf, notices } = await scene();
  await tabs.open();
  pageOf(2).emit("crash");
  expect([ids(), notices.take()]).toEqual([[1], ["The page of tab 2 crashed, and the tab was closed."]]);
  await tabs.open();
  await tabs.closeAll();
  expect(ids()).toEqual([]);
});
