import { expect, test } from "bun:test";
import type { Browsing } from "../../machine/browser/browser.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import {
  judgeClickAt,
  judgeDialog,
  judgeDrag,
  judgeKeys,
  judgeLoading,
  judgePointing,
  type Situation,
} from "./acts.ts";
import { createSentBook } from "./sent-book.ts";

/** A page at this address with nothing in focus, and perhaps an open dialog. */
function situation(address: string, { dialog, open = false }: { dialog?: string; open?: boolean } = {}): Situation {
  const nothing = { evaluateHandle: async () => ({ asElement: () => null }) };
  const page = { url: () => address, frames: () => [], evaluate: async () => undefined, mainFrame: () => nothing };
  const browsing = {
    active: () => ({ page }),
    dialog: () => (dialog === undefined ? undefined : { kind: "confirm", message: dialog }),
  } as unknown as Browsing;
  return {
    browsing: { browsing, looks: createSnapshotStates().of(browsing), sent: createSentBook() },
    scope: open
      ? undefined
      : {
          led: true,
          private: false,
          chosen: [],
          shown: new Map(),
          spent: new Map(),
          given: [],
          said: ["Look at shop.example."],
          trusted: [],
        },
    words: { said: [], trusted: [] },
  };
}
const named = "https://shop.example/";
const foreign = "https://other.example/";
const nowhere: Situation = { ...situation(named), browsing: undefined };

test.each<[string, Situation, { accept: boolean; text?: string }, string | undefined]>([
  ["no page", nowhere, { accept: true }, undefined],
  ["no dialog", situation(named), { accept: true }, undefined],
  ["a harmless one", situation(named, { dialog: "Hello" }), { accept: true }, undefined],
  [
    "one that deletes",
    situation(named, { dialog: "Delete everything?" }),
    { accept: true },
    "Answer “Delete everything?” on shop.example with OK",
  ],
  ["one that deletes, refused", situation(named, { dialog: "Delete everything?" }), { accept: false }, undefined],
  ["a text for a named host", situation(named, { dialog: "Your name?" }), { accept: true, text: "Ann" }, undefined],
  [
    "a text for a foreign host",
    situation(foreign, { dialog: "Your name?" }),
    { accept: true, text: "Ann" },
    "Answer “Your name?” on other.example with a text",
  ],
  ["an empty text", situation(foreign, { dialog: "Your name?" }), { accept: true, text: "" }, undefined],
  ["a refused text", situation(foreign, { dialog: "Your name?" }), { accept: false, text: "Ann" }, undefined],
  ["any host", situation(foreign, { dialog: "Your name?", open: true }), { accept: true, text: "Ann" }, undefined],
])("a dialog is judged: %s", async (_, where, answer, risk) => {
  const judged = await judgeDialog(answer, where);
  if (risk === undefined) expect(judged).toEqual({});
  else expect(judged.risk).toStartWith(risk);
});

test("to load a page again is judged by what it would send, on any host", async () => {
  const resending = (url?: string): Situation => {
    const where = situation(named, { open: true });
    const sent = url === undefined ? undefined : { method: "PUT", url };
    const resends = async (how: string) => (how === "back" ? sent : undefined);
    if (where.browsing !== undefined) Object.assign(where.browsing.browsing, { resends });
    return where;
  };
  const judge = judgeLoading("back");
  expect(await judge({}, nowhere)).toEqual({});
  expect(await judge({}, resending())).toEqual({});
  const paid = resending("https://pay.example:8443/a“b?card=1");
  expect(await judge({}, paid)).toEqual({
    risk: "Load a page of pay.example:8443 again, which sends its form once more: PUT “/a%E2%80%9Cb”",
  });
  expect(await judgeLoading("again")({}, paid)).toEqual({});
});

const at = { x: 1, y: 2 };

test.each<[string, Situation, readonly { x: number; y: number }[], string | undefined, number | undefined]>([
  ["a line on a foreign host", situation(foreign), [at], "Draw on other.example", undefined],
  ["a line on a named host", situation(named), [at], undefined, undefined],
  ["a straight drag on a foreign host", situation(foreign), [], undefined, 40],
  ["a straight drag on a named host", situation(named), [], undefined, undefined],
  ["a line on any host", situation(foreign, { open: true }), [at], undefined, undefined],
])("a drag is judged: %s", async (_, where, through, risk, bits) => {
  const judged = await judgeDrag({ from: at, to: at, through }, where);
  if (risk === undefined) expect(judged.risk).toBeUndefined();
  else expect(judged.risk).toStartWith(risk);
  expect(judged.prices?.map((price) => price.bits)).toEqual(
    risk === undefined ? (bits === undefined ? [] : [bits]) : undefined,
  );
});

test("a point tells a foreign host 20 bits, and a named one or no page nothing", async () => {
  expect((await judgePointing({ ref: at }, situation(foreign))).prices).toEqual([{ site: "other.example", bits: 20 }]);
  for (const where of [situation(named), nowhere, situation("about:blank"), situation("data:text/html,x")])
    expect((await judgePointing({ ref: at }, where)).prices).toEqual([]);
});

test.each([
  ...["Tab", "Shift+Tab", "ctrl+Home", "PageDown", "pgup", "Escape", "F5", "ShiftLeft+End", "Alt"].map(
    (key) => [key, 1] as const,
  ),
  ["ArrowLeft Tab down", 3],
  ["ControlOrMeta+Shift Tab", 2],
  ["ArrowLeft+ArrowUp+Shift+down", 3],
] as const)("%p only moves, and costs four bits for each of %d keys, whatever is held with it", async (keys, count) => {
  const bits = 4 * count;
  expect(await judgeKeys({ keys }, situation(foreign))).toEqual({ prices: [{ site: "other.example", bits }] });
  expect(await judgeKeys({ keys }, situation(named))).toEqual({ prices: [] });
  expect(await judgeKeys({ keys }, nowhere)).toEqual({});
});

test("a key that may write tells a host something even where nothing has the focus", async () => {
  const price = [{ site: "other.example", bits: 8 }];
  expect(await judgeKeys({ keys: "a Enter" }, situation(foreign))).toEqual({ prices: price });
});

/**
 * A page at this address whose focus is on a field called “Mail”, of a form that this button sends.
 */
function inMail(address: string, button: string): Situation {
  const mail = {
    ...{ tag: "input", type: "text", autocomplete: "", takesText: true, words: ["Mail"], names: ["", ""] },
    ...{ sends: { action: "", method: "get", button: [button] }, marks: [], isPressed: true, leads: "", ways: 1 },
  };
  const element = { contentFrame: async () => null, evaluate: async () => mail };
  const frame = { url: () => address, evaluateHandle: async () => ({ asElement: () => element }) };
  const browsing = { active: () => ({ page: { url: () => address, mainFrame: () => frame } }) } as unknown as Browsing;
  const { scope, words } = situation(address);
  return { scope, words, browsing: { browsing, looks: createSnapshotStates().of(browsing), sent: createSentBook() } };
}

test.each([
  ["Delete", foreign, "Type into “Mail” on other.example, a host you did not name"],
  ["Backspace", foreign, "Type into “Mail” on other.example, a host you did not name"],
  ["Control+v", foreign, "Type into “Mail” on other.example, a host you did not name"],
  ["Escape", foreign, undefined],
  ["Delete", named, undefined],
  ["Enter", named, "Press Enter, which clicks “Order now” on shop.example"],
  ["Control+Enter", named, "Press Enter, which clicks “Order now” on shop.example"],
  ["a Enter", named, "Press Enter, which clicks “Order now” on shop.example"],
  ["a", named, undefined],
  ["Tab Enter", named, "Press “Tab Enter” on shop.example, which presses something not known yet"],
] as const)("%p in a field on %s: %p", async (keys, address, risk) => {
  expect((await judgeKeys({ keys }, inMail(address, "Order now"))).risk).toBe(risk as string);
});

test("a click at a point is judged by what is at that point of the window, not of a picture that was scaled down", async () => {
  const looked: unknown[] = [];
  const frame = {
    evaluateHandle: async (_: unknown, point: unknown) => {
      looked.push(point);
      return { asElement: () => null };
    },
  };
  const page = { url: () => foreign, mainFrame: () => frame };
  const browsing = { active: () => ({ page }) } as unknown as Browsing;
  const judge = (scale?: { page: unknown; factor: number }) => {
    const looks = { ...createSnapshotStates().of(browsing), scale } as never;
    return judgeClickAt(at, { ...nowhere, browsing: { browsing, looks, sent: createSentBook() } });
  };
  for (const scale of [undefined, { page, factor: 2.5 }, { page: { ...page }, factor: 2.5 }])
    expect(await judge(scale)).toEqual({});
  // Another tab's picture says nothing about this one.
  expect(looked).toEqual([at, { x: 2.5, y: 5 }, at]);
  expect(await judgeClickAt(at, nowhere)).toEqual({});
});
