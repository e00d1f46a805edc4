import { expect, test } from "bun:test";
import {
  type ActionTarget,
  hostOf,
  isForeign,
  isSecret,
  judgeClick,
  judgeEnter,
  judgeTyping,
  type PageAction,
  pricesOf,
  quoted,
  sayingOf,
} from "./judge-action.ts";
import type { TrustScope } from "./scope.ts";

const scope: TrustScope = {
  led: true,
  private: false,
  chosen: [],
  shown: new Map(),
  spent: new Map(),
  given: [],
  said: ["Look at shop.example."],
  trusted: [],
};
const shop = new URL("https://shop.example/cart");
const other = new URL("https://other.example/");

/** An element that nothing speaks against: a button “Next” of the shop. */
function place(action: Partial<PageAction> = {}, more: Partial<ActionTarget> = {}): ActionTarget {
  return {
    action: {
      tag: "button",
      type: "button",
      autocomplete: "",
      takesText: false,
      words: ["Next"],
      names: ["", ""],
      sends: undefined,
      marks: [],
      isPressed: true,
      leads: "",
      ways: 1,
      ...action,
    },
    url: shop,
    ...more,
  };
}
const field = (action: Partial<PageAction> = {}, more: Partial<ActionTarget> = {}) =>
  place({ tag: "input", type: "text", takesText: true, words: ["Mail"], ...action }, more);
const form = (method: string, action = "", button: readonly string[] = []) => ({ sends: { action, method, button } });
const icon = "\ue001";

test.each<[string, ActionTarget, string | undefined]>([
  ["a worded button", place(), undefined],
  ["words that buy", place({ words: ["x", "Buy now"] }), "Click “Buy now” on shop.example"],
  ["a visible name that buys", place({}, { name: "Pay" }), "Click “Pay” on shop.example"],
  [
    "code of a worded button",
    place({ marks: ["class btn-delete"] }),
    "Click “Next” on shop.example, which the page calls “class btn-delete”",
  ],
  ["code of a worded link", place({ tag: "a", leads: "https://shop.example/x", marks: ["id send-link"] }), undefined],
  [
    "code of a link that is only an icon",
    place({ tag: "a", words: [icon], leads: "https://shop.example/x", marks: ["id send"] }),
    `Click “a” on shop.example, which the page calls “id send”`.replace("“a”", quoted(icon)),
  ],
  ["a field with code that deletes", field({ marks: ["id delete"], isPressed: true, words: [] }), undefined],
  [
    "a form that is posted by “OK”",
    place({ words: ["OK"], ...form("post") }),
    "Click “OK” on shop.example, which sends a form and does not say what for",
  ],
  [
    "a form that is posted by nothing in words",
    place({ words: [""], ...form("post") }),
    "Click “button” on shop.example, which sends a form and does not say what for",
  ],
  ["a form that is posted by “Go”", place({ words: ["Go"], ...form("post") }), undefined],
  ["a form that is posted by “OK, find it”", place({ words: ["OK", "Find it"], ...form("post") }), undefined],
  ["a form that is fetched by “OK”", place({ words: ["OK"], ...form("get") }), undefined],
  [
    "a button without a name",
    place({ words: [] }),
    "Click something without a name on shop.example; what it does cannot be told",
  ],
  [
    "a button with an icon",
    place({ words: [icon] }),
    "Click something without a name on shop.example; what it does cannot be told",
  ],
  ["an icon with a name that is seen", place({ words: [icon] }, { name: "Go on" }), undefined],
  ["an icon with a number that is seen", place({ words: [icon] }, { name: "7" }), undefined],
  [
    "an icon with a name that is seen, and a link",
    place({ tag: "a", words: [icon], leads: "https://shop.example/x", marks: ["id send"] }, { name: "Go on" }),
    undefined,
  ],
  ["a cross", place({ words: ["×"] }), undefined],
  ["a number", place({ words: ["7"] }), undefined],
  ["an icon that code calls a menu", place({ words: [icon], marks: ["class menu-icon"] }), undefined],
  ["an icon that cannot be pressed", place({ words: [icon], isPressed: false }), undefined],
  ["an icon that leads somewhere", place({ tag: "a", words: [icon], leads: "https://shop.example/x" }), undefined],
  ["a picture to click in", place({ tag: "canvas", words: [] }), undefined],
  ["a box to tick", place({ tag: "input", type: "checkbox", words: [] }), undefined],
  [
    "a form to an unnamed host",
    place(form("get", "https://other.example/take")),
    "Send a form of shop.example to other.example, a host you did not name",
  ],
  ["a form to the same host", place(form("get", "/take")), undefined],
  [
    "a form to another port of an unnamed host",
    place(form("get", "https://other.example:8443/take"), { url: other }),
    "Send a form of other.example to other.example:8443, a host you did not name",
  ],
  ["a form to a named host", place(form("get", "https://www.shop.example/take")), undefined],
  ["a form of an unnamed host to itself", place(form("get", "/take"), { url: other }), undefined],
  ["a form to no address", place(form("get", "http://[")), undefined],
  ["a form that runs a script", place(form("get", "javascript:go()")), undefined],
])("a click on %s", (_, target, risk) => {
  expect(judgeClick(target, scope)).toBe(risk as string);
});

test.each([
  ["DELETE", "Row", true],
  ["DELETE", icon, true],
  ["POST", "Row", false],
  ["POST", "✓ 1", true],
])("a button that sent a %s before, called %s, needs a person: %p", (method, word, needs) => {
  const risk = judgeClick(place({ words: [word], marks: ["class menu"] }), scope, { method, path: "/api" });
  if (needs) expect(risk).toContain(`which sent something when it was clicked before: ${method} “/api”`);
  else expect(risk).toBeUndefined();
});

test("a form is judged by where it goes only if scope is judged and the page has an address", () => {
  const sending = form("get", "https://other.example/take");
  expect(judgeClick(place(sending), undefined)).toBeUndefined();
  expect(judgeClick(place(sending, { url: undefined }), scope)).toBeUndefined();
});

test.each<[string, ActionTarget, string | undefined]>([
  ["a field without a form", field(), undefined],
  [
    "a field whose form's button buys",
    field(form("get", "", ["Order now"])),
    "Press Enter, which clicks “Order now” on shop.example",
  ],
  [
    "a field whose form's code deletes",
    field({ ...form("get"), marks: ["action /delete/7"] }),
    "Press Enter, which clicks “action /delete/7” on shop.example",
  ],
  ["a field without a form whose code deletes", field({ marks: ["action /delete/7"] }), undefined],
  [
    "a field whose form goes elsewhere",
    field(form("get", "https://other.example/")),
    "Send a form of shop.example to other.example, a host you did not name",
  ],
  ["a button that buys", place({ words: ["Buy"] }), "Click “Buy” on shop.example"],
])("Enter in %s", (_, target, risk) => {
  expect(judgeEnter(target, scope)).toBe(risk as string);
});

test.each<[string, ActionTarget, string | undefined]>([
  ["a field of a named host", field(), undefined],
  ["a field of another host", field({}, { url: other }), "Type into “Mail” on other.example, a host you did not name"],
  [
    "a field that has only a name in code",
    field({ words: [], names: ["", "mail"] }, { url: other }),
    "Type into “mail” on other.example, a host you did not name",
  ],
  [
    "a field without any name",
    field({ words: [] }, { url: other }),
    "Type into “a field” on other.example, a host you did not name",
  ],
  ["a field for a password", field({ type: "password" }), "Type into the password field “Mail” on shop.example"],
  [
    "a password of another host",
    field({ type: "password" }, { url: other }),
    "Type into the password field “Mail” on other.example, a host you did not name",
  ],
  [
    "a field that code calls a card number",
    field({ names: ["cardNumber", ""] }),
    "Type into the card field “Mail” on shop.example",
  ],
  ["something that takes no text", place({ type: "password", takesText: false }, { url: other }), undefined],
])("typing into %s", (_, target, risk) => {
  expect(judgeTyping(target, scope)).toBe(risk as string);
});

test.each([
  ["Log in at shop.example with hunter2", "hunter2", shop, true],
  ["Log in at shop.example with hunter2.", "hunter2", shop, true],
  ["Log in at shop.example with xhunter2", "hunter2", shop, false],
  ["Log in at shop.example with hunter22, then hunter2", "hunter2", shop, true],
  ["Log in at shop.example with hunter2", "hunter", shop, false],
  ["Log in at shop.example with hunter2", "hunter2", other, false],
  ["Log in with hunter2", "hunter2", shop, false],
  ["Log in at shop.example with abcd", "abcd", shop, true],
  ["Log in at shop.example with abc", "abc", shop, false],
])("after “%s” the password %s may be typed at %s: %p", (said, text, url, may) => {
  const risk = judgeTyping(field({ type: "password" }, { url }), undefined, { said: [said], trusted: [], text });
  expect(risk === undefined).toBe(may);
});

test("a password may be given in any of the user's messages", () => {
  const given = { said: ["I want to buy shoes at shop.example.", "hunter2"], trusted: [], text: "hunter2" };
  expect(judgeTyping(field({ type: "password" }), scope, given)).toBeUndefined();
});

test("figures of two messages do not make up one card's number", () => {
  const said = ["At shop.example: order 4111 1111", "1111 1111 pieces"];
  const given = { said, trusted: [], text: "4111111111111111" };
  expect(judgeTyping(field({ names: ["cardNumber", ""] }), scope, given)).toContain("card field");
});

test("a page without a host is called empty", () => {
  expect([hostOf(undefined), hostOf(new URL("about:blank")), hostOf(shop)]).toEqual([
    "an empty page",
    "an empty page",
    "shop.example",
  ]);
});

test.each([
  ["card number 4111 1111 1111 1111", "4111111111111111", true],
  ["card number 4111111111111111", "4111 1111 1111 1111", true],
  ["card number 4111-1111-1111-1111, 12/2028, cvc 123", "123", true],
  ["card number 4111-1111-1111-1111, 12/2028, cvc 123", "12/28", true],
  ["card number 4111-1111-1111-1111, 12/2028, cvc 123", "12 / 2028", true],
  ["card number 4111 1111 1111 1111", "4111", true],
  ["card number 4111 1111 1111 1111", "411", false],
  ["card number 4111 1111 1111 1111", "1111111111111111", false],
  ["buy the lamp", "4111111111111111", false],
  [`serial ${"7".repeat(40)}`, "7".repeat(40), true],
  [`serial ${"7".repeat(41)}`, "7".repeat(41), false],
  ["buy the lamp", "- -", false],
])("after “%s” a card's figures %s may be typed on the site named: %p", (said, text, may) => {
  const given = { said: [`At shop.example: ${said}`], trusted: [], text };
  const card = field({ names: ["cardNumber", ""] });
  expect(judgeTyping(card, scope, given) === undefined).toBe(may);
  expect(judgeTyping({ ...card, url: other }, undefined, given)).toContain("card field");
});

test("every secret that the user gave may be typed where the user said, and nowhere else", () => {
  const given = { said: ["shop.example 123456"], trusted: [], text: "123456" };
  expect(judgeTyping(field({ words: ["One-time code"] }), scope, given)).toBeUndefined();
  expect(judgeTyping(field({ words: ["API key"] }), scope, { ...given, text: "12345" })).toContain("credential");
  expect(judgeTyping(field({ type: "password" }, { url: undefined }), scope, given)).toContain("password");
});

test("what is secret is a field that takes text; what an element says is its words or else its code", () => {
  expect([isSecret(field({ type: "password" })), isSecret(place({ type: "password" })), isSecret(field())]).toEqual([
    true,
    false,
    false,
  ]);
  expect(sayingOf(place({ words: ["", "Delete"], marks: ["id send"] }))).toBe("Delete");
  expect(sayingOf(place({ words: ["Bin"], marks: ["id send"] }))).toBe("id send");
  expect(sayingOf(place({}, { name: "Delete" }))).toBe("Delete");
  expect(sayingOf(place())).toBeUndefined();
});

test.each<[string, ActionTarget, TrustScope | undefined, number, ReturnType<typeof pricesOf>]>([
  ["on a named host", place(), scope, 0, []],
  ["where scope is open", place({}, { url: other }), undefined, 0, []],
  ["on an empty page", place({}, { url: undefined }), scope, 0, []],
  ["one of three elements", place({ ways: 3 }, { url: other }), scope, 0, [{ site: "other.example", bits: 2 }]],
  ["at a point", place({ ways: 3 }, { url: other }), scope, 20, [{ site: "other.example", bits: 20 }]],
  ["a link to another host", place({ ways: 3, leads: other.href }), scope, 0, [{ site: "other.example", bits: 2 }]],
  ["a link to a named host", place({ ways: 3, leads: shop.href }, { url: other }), scope, 0, []],
])("choosing %s costs what it reveals", (_, target, judged, least, prices) => {
  expect(pricesOf(target, judged, least)).toEqual(prices);
});

test("a host is foreign if scope is judged, it has an address and nobody vouched for it", () => {
  expect([
    isForeign(other, scope),
    isForeign(other, undefined),
    isForeign(undefined, scope),
    isForeign(shop, scope),
  ]).toEqual([true, false, false, false]);
});

test("a quotation of 80 characters is whole, a longer one is cut", () => {
  expect(quoted("x".repeat(80))).toBe(`“${"x".repeat(80)}”`);
  expect(quoted("x".repeat(81))).toBe(`“${"x".repeat(79)}…”`);
});
