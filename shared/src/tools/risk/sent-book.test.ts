import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page } from "playwright";
import type { ActionTarget } from "./judge-action.ts";
import { createSentBook } from "./sent-book.ts";

type Sent = readonly [method: string, url: string, kind: string];

/** A page that makes requests when one of its elements is pressed. */
function pageForTest() {
  const emitter = new EventEmitter();
  const send = ([method, url, kind]: Sent) =>
    emitter.emit("request", { url: () => url, method: () => method, resourceType: () => kind });
  return { page: emitter as unknown as Page, send, listeners: () => emitter.listenerCount("request") };
}

const place = (more: Partial<ActionTarget["action"]> = {}, name?: string, host = "shop.example"): ActionTarget => ({
  action: { tag: "button", type: "button", words: [], marks: [], ...more } as unknown as ActionTarget["action"],
  url: new URL(`http://${host}/rows`),
  ...(name !== undefined && { name }),
});

/** What a book knows about an element that made these requests when it was pressed. */
async function after(requests: readonly Sent[], pressed = place(), asked = pressed) {
  const book = createSentBook();
  const { page, send } = pageForTest();
  await book.during(page, pressed, async () => requests.forEach(send));
  return book.before(asked);
}

test.each<[readonly Sent[], { method: string; path: string } | undefined]>([
  [[], undefined],
  [[["POST", "http://shop.example/api/7?q=1", "fetch"]], { method: "POST", path: "/api/7" }],
  [[["PUT", "http://shop.example/a", "xhr"]], { method: "PUT", path: "/a" }],
  [[["POST", "http://shop.example/a", "document"]], { method: "POST", path: "/a" }],
  [[["POST", "http://stats.example/a", "ping"]], undefined],
  [[["GET", "http://shop.example/a", "fetch"]], undefined],
  [[["HEAD", "http://shop.example/a", "fetch"]], undefined],
  [[["OPTIONS", "http://shop.example/a", "fetch"]], undefined],
  [[["POST", "", "fetch"]], undefined],
  [
    [
      ["POST", "http://shop.example/a", "fetch"],
      ["DELETE", "http://shop.example/b", "fetch"],
    ],
    { method: "DELETE", path: "/b" },
  ],
  [
    [
      ["DELETE", "http://shop.example/b", "fetch"],
      ["POST", "http://shop.example/log", "fetch"],
      ["GET", "http://shop.example/", "document"],
    ],
    { method: "DELETE", path: "/b" },
  ],
])("after %j an element counts as having sent %j", async (requests, sent) => {
  expect(await after(requests)).toEqual(sent);
});

const marks = (...marks: string[]) => place({ marks });
test.each<[string, ActionTarget, ActionTarget, boolean]>([
  ["the same in another row", marks("id row-1"), marks("id row-27"), true],
  ["the same with other numbers in its words", place({ words: ["Row 1"] }), place({ words: ["Row 20"] }), true],
  ["one with another name", place({}, "Next"), place({}, "Last"), false],
  ["one with other words", place({ words: ["Next"] }), place({ words: ["Last"] }), false],
  ["one with other names in code", marks("class a"), marks("class b"), false],
  ["another element", place(), place({ tag: "a" }), false],
  ["another type", place(), place({ type: "submit" }), false],
  ["one on another host", place(), place({}, undefined, "other.example"), false],
  ["one that differs only far behind", marks("x".repeat(500), "a"), marks("x".repeat(500), "b"), true],
])("what an element sent is known of %s: %#", async (_, pressed, asked, known) => {
  expect((await after([["POST", "http://shop.example/", "fetch"]], pressed, asked)) !== undefined).toBe(known);
});

test("only what a page sends during the press counts, also of a press that fails", async () => {
  const book = createSentBook();
  const { page, send, listeners } = pageForTest();
  const press = book.during(page, place(), async () => {
    send(["POST", "http://shop.example/a", "fetch"]);
    throw new Error("the page is gone");
  });
  await expect(press).rejects.toThrow("the page is gone");
  send(["DELETE", "http://shop.example/b", "fetch"]);
  expect([book.before(place()), listeners()]).toEqual([{ method: "POST", path: "/a" }, 0]);
  expect(await book.during(page, place(), async () => "pressed")).toBe("pressed");
});
