import { expect, test } from "bun:test";
import type { Frame } from "playwright";
import type { Browsing } from "../../machine/browser/browser.ts";
import { createRefs } from "./elements/refs.ts";
import { createSnapshotStates, tellNotices, untoldNotices } from "./elements/snapshot-state.ts";
import type { Item } from "./item.ts";
import type { PageLook } from "./look.ts";
import { linesOfLook } from "./look-text.ts";
import { briefOf, briefOfChanges } from "./page-brief.ts";
import { changesText, differenceOf, documentOf, toldWith } from "./page-changes.ts";

const blank = { name: "", text: "", states: [], ref: undefined, acts: false, away: 0, url: undefined, children: [] };
const item = (role: string, more: Partial<Item> = {}): Item => ({ ...blank, role, ...more });
const words = (text: string) => item("text", { text });
const button = (name: string, ref: string, more: Partial<Item> = {}) =>
  item("button", { name, ref, acts: true, ...more });
const look = (items: readonly Item[], { above = 0, ...more }: Partial<PageLook> & { above?: number } = {}) =>
  ({
    tab: { id: 1 },
    url: "https://a.example/p?q=1",
    title: "T",
    items,
    crowded: false,
    measure: { origin: 7, width: 1280, height: 800, above, below: 0, elements: 9 },
    ...more,
  }) as PageLook;
const around = { header: ["Page: x", "Window: 1"], notices: [], picture: undefined };

/** What a conversation that has the first look is told with the second, and then knows. */
function next(first: PageLook, second: PageLook, header: readonly string[] = around.header) {
  const lines = linesOfLook(first, 900);
  const base = toldWith(first, lines, around);
  const now = linesOfLook(second, 900, base.detail);
  const difference = differenceOf(second, now, base);
  const text = changesText(second, now, { base, difference, header });
  const known = toldWith(second, now, { ...around, header }, { base, difference });
  return { text, base, known, brief: briefOfChanges(second, now, difference) };
}
const data = (body: string) => `<web-content from="https://a.example">\n${body}\n</web-content>`;

test("new, changed and gone lines are told apart, each below what it belongs to", () => {
  const list = (...names: readonly string[]) =>
    item("list", { name: "L", ref: "e9", children: names.map((name) => item("group", { children: [words(name)] })) });
  const { text, known } = next(
    look([words("one"), button("Go", "e1"), list("a")]),
    look([words("two"), button("Went", "e1"), list("a", "b")]),
  );
  expect(text).toBe(data('+ two\n~ button "Went" [e1]\nin list "L" [e9]:\n+ group: b\ngone: one'));
  expect(known.lines.toSorted()).toEqual(
    linesOfLook(look([words("two"), button("Went", "e1"), list("a", "b")]), 900)
      .lines.map((line) => line.text)
      .toSorted(),
  );
  expect([known.document, known.title, known.above]).toEqual(["1 7", "T", 0]);
});

test("of a part that is gone, what was in it is not named too", () => {
  const dialog = item("dialog", { name: "Assign", ref: "e5", children: [words("Who?"), button("Mia", "e6")] });
  expect(next(look([words("a"), dialog]), look([words("a")])).text).toBe(data('gone: dialog "Assign" [e5]'));
});

test("of an element that can be used now, that is said", () => {
  const go = (states: readonly string[]) => look([button("Go", "e1", { states })]);
  expect(next(go(["disabled"]), go([])).text).toBe(data('~ button "Go" [e1] (enabled now)'));
  expect(next(go(["pressed", "expanded"]), go(["focused"])).text).toBe(
    data('~ button "Go" [focused] [e1] (no longer pressed, expanded)'),
  );
  expect(next(go([]), go(["disabled"])).text).toBe(data('~ button "Go" [disabled] [e1]'));
});

test("of elements that are alike, a new one comes with the known link or heading before it, without a sign", () => {
  const row = (name: string, ref: string, left: string, buy: string) => [
    item("link", { name, ref, acts: true }),
    words(left),
    button("Buy", buy),
  ];
  const shop = (left: readonly string[], from: number) =>
    look([...row("Ann", "e1", left[0] ?? "", `e${from}`), ...row("Bob", "e2", left[1] ?? "", `e${from + 1}`)]);
  expect(next(shop(["3 left", "4 left"], 5), shop(["2 left", "4 left"], 7)).text).toBe(
    data('  link "Ann" [e1]\n+ 2 left\n+ button "Buy" [e7]\n  link "Bob" [e2]\n+ button "Buy" [e8]\ngone: 3 left'),
  );
});

test("two lines that are alike are two, and an element that only got another ref is not gone", () => {
  expect(next(look([words("a")]), look([words("a"), words("a")])).text).toBe(data("+ a"));
  expect(next(look([words("a"), words("a")]), look([words("a")])).text).toBe(data("gone: a"));
  expect(next(look([button("Go", "e1")]), look([button("Go", "e2")])).text).toBe(data('+ button "Go" [e2]'));
});

test("six gone lines are named, cut, and the others counted", () => {
  const many = Array.from({ length: 8 }, (_, n) => words(`${n}${"x".repeat(80)}`));
  const { text } = next(look([words("stays"), ...many]), look([words("stays")]));
  expect(text).toBe(data(`gone: ${[0, 1, 2, 3, 4, 5].map((n) => `${n}${"x".repeat(59)}…`).join("; ")}; and 2 more`));
});

test("a new title and a new header are told, and the window only once it is scrolled", () => {
  const page = [words("a")];
  expect(next(look(page), look(page, { title: "New" })).text).toBe(data("Title: New"));
  const header = ["Page: y", "Window: 2"];
  expect(next(look(page), look(page), header).text).toBe("Page: y");
  expect(next(look(page), look(page, { above: 5 }), header).text).toBe("Page: y\nWindow: 2");
  const { known } = next(look(page), look(page, { above: 5 }));
  expect([known.above, next(look(page, { above: 5 }), look(page)).base.above]).toEqual([5, 5]);
  expect(next(look(page), look(page)).text).toBe("");
  expect(next(look(page), look([words("b")]), header).text).toBe(`Page: y\n${data("+ b\ngone: a")}`);
});

test("where the focus is is told when nothing else is, and where things are drawn is no change once the page is scrolled", () => {
  const focused = (name: string, ref: string) => button(name, ref, { states: ["focused"] });
  expect(next(look([focused("A", "e1"), button("B", "e2")]), look([button("A", "e1"), focused("B", "e2")])).text).toBe(
    "The focus is on e2.",
  );
  expect(next(look([focused("A", "e1")]), look([focused("A", "e1")])).text).toBe("");
  const drawn = (y: number) => [item("icon", { text: `9×9 px at 5,${y}, red`, ref: "e1", acts: true })];
  expect(next(look(drawn(10)), look(drawn(-90), { above: 100 })).text).toBe("");
  expect(next(look(drawn(10)), look(drawn(20))).text).toBe(data("~ icon [e1]: 9×9 px at 5,20, red"));
});

test("another tab or another document of the tab is another page", () => {
  expect(documentOf(look([]))).toBe("1 7");
  expect(documentOf({ ...look([]), tab: { id: 2 } } as PageLook)).toBe("2 7");
});

test("in short, a page is its title, headings, texts and first rows, without menus and what can be done", () => {
  const cell = (text: string) => item("cell", { text });
  const rows = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      item("row", {
        children: [
          cell(`Plan ${n}`),
          item("link", { name: `more ${n}`, acts: true }),
          item("textbox", { text: "typed", acts: true }),
        ],
      }),
    );
  const brief = briefOf(
    look([
      item("navigation", { children: [words("menu")] }),
      item("heading", { name: "Prices" }),
      words("T"),
      words(`  so   it ${"x".repeat(200)}`),
      button("Buy", "e1"),
      item("table", { children: rows(3) }),
    ]),
  );
  expect(brief).toBe(
    `This page was open then; in short:\n<web-content from="https://a.example/p?q=1">\nTitle: T\nPrices\nso it ${"x".repeat(114)}…\nPlan 0 | more 0\nPlan 1 | more 1\nPlan 2 | more 2\n</web-content>`,
  );
  const long = briefOf(look([item("table", { children: rows(60) })]));
  const told = long.match(/^Plan /gm)?.length ?? 0;
  expect(told).toBeGreaterThan(5);
  expect(long).toContain(`\n… ${60 - told} more like these\n`);
  expect(briefOf(look(Array.from({ length: 90 }, (_, n) => words(`fact number ${n}`))))).toContain(
    "\n… more was on the page\n",
  );
  expect(briefOf(look([], { title: "" }))).not.toContain("Title");
});

test("in short, changes are the texts that came, without what can be done, to a bound", () => {
  const first = look([words("a")]);
  expect(
    next(first, look([words("a"), words("new"), button("Go", "e1"), item("group", { ref: "e2", text: "told" })])).brief,
  ).toBe(data("+ new\n+ group: told"));
  expect(next(first, look([words("a"), button("Go", "e1")])).brief).toBe("");
  const many = next(first, look([words("a"), ...Array.from({ length: 50 }, (_, n) => words(`new fact ${n}`))])).brief;
  expect(many).toContain("+ new fact 0\n");
  expect(many).not.toContain("+ new fact 40");
});

test("a ref stays an element's, is given to no other, and follows what replaced it", () => {
  const refs = createRefs();
  const [frame, other] = [{}, {}] as [Frame, Frame];
  const element = (number: number, more = {}) => ({
    tab: 1,
    frame,
    origin: 1,
    number,
    role: "button",
    name: "Go",
    mark: "Go",
    ...more,
  });
  expect(refs.isEmpty()).toBe(true);
  expect(refs.give(element(1))).toBe("e1");
  expect([refs.give(element(1)), refs.isEmpty()]).toEqual(["e1", false]);
  const others = [
    element(2),
    element(1, { frame: other }),
    element(1, { origin: 2 }),
    element(1, { role: "link" }),
    element(1, { mark: "No" }),
  ];
  expect(others.map((one) => refs.give(one))).toEqual(["e2", "e3", "e4", "e5", "e6"]);
  const place = { role: "button", mark: "Go" };
  refs.follow({ frame, origin: 1 }, { ...place, former: 1, now: 9 });
  expect([refs.get("e1")?.number, refs.give(element(9)), refs.give(element(1))]).toEqual([9, "e1", "e7"]);
  // What has a ref already keeps it.
  refs.follow({ frame, origin: 1 }, { ...place, former: 2, now: 9 });
  expect([refs.get("e2")?.number, refs.give(element(9))]).toEqual([2, "e1"]);
  refs.follow({ frame, origin: 1 }, { ...place, former: 77, now: 78 });
  expect(refs.give(element(78))).toBe("e8");
});

test("a ref moves on by what it was when it was told, and what it was in between is another element", () => {
  const refs = createRefs();
  const place = { role: "button", mark: "Go" };
  const element = (number: number) => ({ ...place, tab: 1, frame: {} as Frame, origin: 1, number, name: "Go" });
  const { frame } = element(0);
  const give = (number: number) => refs.give({ ...element(number), frame });
  expect(give(1)).toBe("e1");
  refs.follow({ frame, origin: 1 }, { ...place, former: 1, now: 9 });
  refs.follow({ frame, origin: 1 }, { ...place, former: 1, now: 12 });
  expect([refs.get("e1")?.number, give(12), give(9), give(1)]).toEqual([12, "e1", "e2", "e3"]);
});

test("of thirty thousand refs the older half is forgotten, and none is given again", () => {
  const refs = createRefs();
  const frame = {} as Frame;
  const give = (number: number) => refs.give({ tab: 1, frame, origin: 1, number, role: "button", name: "", mark: "" });
  for (let number = 1; number <= 30_000; number++) give(number);
  expect(refs.get("e1")).toBeDefined();
  expect(give(30_001)).toBe("e30001");
  expect([refs.get("e1"), refs.get("e15000")]).toEqual([undefined, undefined]);
  expect(refs.get("e15001")?.number).toBe(15_001);
  expect(give(1)).toBe("e30002");
  expect(give(20_000)).toBe("e20000");
});

test("what happened is kept until it is told, the newest twenty, and told once; each browsing has its own", () => {
  const states = createSnapshotStates();
  const happened: string[][] = [];
  const browsing = { notices: () => happened.shift() ?? [] } as unknown as Browsing;
  const looks = states.of(browsing);
  expect([states.of(browsing) === looks, states.of({ ...browsing }) === looks]).toEqual([true, false]);
  happened.push(["a"], ["b"]);
  expect(untoldNotices(browsing, looks)).toEqual(["a"]);
  expect(tellNotices(browsing, looks)).toEqual(["a", "b"]);
  happened.push(Array.from({ length: 25 }, (_, n) => `n${n}`));
  expect(tellNotices(browsing, looks).at(0)).toBe("n5");
  expect(tellNotices(browsing, looks)).toEqual([]);
});
