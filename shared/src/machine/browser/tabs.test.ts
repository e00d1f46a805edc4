import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { BrowserContext } from "playwright";
import { createNotices } from "./notices.ts";
import { openTabs } from "./tabs.ts";

/** A context whose pages close when told, and open unless `fails`. */
function contextForTest() {
  const state = { fails: false };
  const context = Object.assign(new EventEmitter(), {
    async newPage() {
      if (state.fails) throw new Error("The browser is busy.");
      const page = Object.assign(new EventEmitter(), { close: async () => void page.emit("close") });
      context.emit("page", page);
      return page;
    },
  });
  return { state, context: context as unknown as BrowserContext };
}

test("a tab that could not be opened in place of the last one is opened when it is needed", async () => {
  const { state, context } = contextForTest();
  let id = 0;
  const tabs = await openTabs(context, {
    most: 3,
    nextId: () => ++id,
    notices: createNotices(),
    watch: async () => {},
    ownsAll: true,
  });
  state.fails = true;
  await tabs.close(tabs.active().id);
  await expect(tabs.ready()).rejects.toThrow("The browser is busy.");
  expect(() => tabs.active()).toThrow("The last tab has just closed.");
  state.fails = false;
  await tabs.ready();
  expect(tabs.active().id).toBe(2);
});
