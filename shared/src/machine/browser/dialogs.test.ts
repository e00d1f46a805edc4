import { expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page } from "playwright";
import { createDialogs } from "./dialogs.ts";
import { createNotices } from "./notices.ts";

/** A page that opens dialogs, and how each was closed. */
function scene() {
  const notices = createNotices();
  const dialogs = createDialogs(notices);
  const page = new EventEmitter() as unknown as Page & EventEmitter;
  const closed: string[] = [];
  const open = (type: string, message = "sure?") =>
    page.emit("dialog", {
      type: () => type,
      message: () => message,
      defaultValue: () => "none",
      page: () => page,
      accept: async (text?: string) => void closed.push(text === undefined ? "accepted" : `accepted ${text}`),
      dismiss: async () => void closed.push("dismissed"),
    });
  dialogs.watch(page);
  return { notices, dialogs, page, closed, open };
}

test("a question waits for its answer, which counts once", async () => {
  const { dialogs, page, closed, open, notices } = scene();
  expect(dialogs.open(page)).toBeUndefined();
  const opened = dialogs.opened(page, new AbortController().signal);
  open("prompt", "m".repeat(600));
  await opened;
  await dialogs.opened(page, new AbortController().signal);
  const dialog = dialogs.open(page);
  expect(dialog).toMatchObject({ kind: "prompt", message: "m".repeat(500), defaultText: "none" });
  await dialog?.answer(true, "Ada");
  await dialog?.answer(false);
  expect([closed, dialogs.open(page), notices.take()]).toEqual([["accepted Ada"], undefined, []]);
});

test.each([
  ["confirm", 'The confirm dialog "sure?" was dismissed: nobody answered it before the next action.'],
  ["prompt", 'The prompt dialog "sure?" was dismissed: nobody answered it before the next action.'],
  [
    "beforeunload",
    'The beforeunload dialog "sure?" was dismissed, so the page was not left: nobody answered it before the next action.',
  ],
])("a %s that nobody answered is dismissed by the next action, and told", async (type, told) => {
  const { dialogs, page, closed, open, notices } = scene();
  open(type);
  await dialogs.settle(page);
  await dialogs.settle(page);
  expect([closed, notices.take()]).toEqual([["dismissed"], [told]]);
});

test("a question is not closed by time", async () => {
  const { dialogs, page, closed, open, notices } = scene();
  jest.useFakeTimers();
  open("confirm");
  jest.advanceTimersByTime(86_400_000);
  jest.useRealTimers();
  expect([dialogs.open(page)?.message, closed, notices.take()]).toEqual(["sure?", [], []]);
});

test("alerts are accepted and told; of dialogs in a row five are asked about, until an action ends without one", () => {
  const { dialogs, page, closed, open, notices } = scene();
  open("alert", "seen?");
  expect([closed.splice(0), notices.take(), dialogs.open(page)]).toEqual([
    ["accepted"],
    ['The page showed an alert, which was accepted: "seen?"'],
    undefined,
  ]);
  for (let n = 0; n < 4; n++) open("confirm", `q${n}`);
  expect([closed.splice(0), dialogs.open(page)?.message]).toEqual([[], "q3"]);
  open("confirm", "one more");
  open("alert", "one more");
  expect(closed.splice(0)).toEqual(["dismissed", "accepted"]);
  expect(notices.take()).toEqual([
    "The page opens one dialog after the other; those after the first 5 were closed unasked. (2 times)",
  ]);
  dialogs.calm(page);
  open("confirm", "again");
  expect([closed, dialogs.open(page)?.message]).toEqual([[], "again"]);
});

test("who no longer waits for a dialog is not told of the next", async () => {
  const { dialogs, page, open } = scene();
  const control = new AbortController();
  let told = false;
  void dialogs.opened(page, control.signal).then(() => {
    told = true;
  });
  control.abort();
  open("confirm");
  await Bun.sleep(0);
  expect(told).toBe(false);
});

test("what happens again is counted, and beyond thirty kinds only their number is kept", () => {
  const notices = createNotices();
  for (let n = 0; n < 30; n++) notices.add(`n${n}`);
  for (const sentence of ["n0", "n0", "n30", "n31"]) notices.add(sentence);
  const taken = notices.take();
  expect([taken.length, taken[0], taken[1], taken.at(-1)]).toEqual([
    31,
    "n0 (3 times)",
    "n1",
    "And 2 more such things happened.",
  ]);
  expect(notices.take()).toEqual([]);
  notices.add("n0");
  expect(notices.take()).toEqual(["n0"]);
});
