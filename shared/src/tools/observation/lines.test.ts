import { expect, test } from "bun:test";
import type { Browsing } from "../../machine/browser/browser.ts";
import type { Item } from "./item.ts";
import { linesOf } from "./lines.ts";
import { chooseLines, findLines, linesText, wholeText } from "./lines-text.ts";
import type { PageLook } from "./look.ts";
import { bodyOf, headerOf, linesOfLook, notesOf } from "./look-text.ts";

const blank = { name: "", text: "", states: [], ref: undefined, acts: false, away: 0, url: undefined, children: [] };
const item = (role: string, more: Partial<Item> = {}): Item => ({ ...blank, role, ...more });
const button = (name: string, more: Partial<Item> = {}) => item("button", { name, acts: true, ...more });
const words = (text: string, more: Partial<Item> = {}) => item("text", { text, ...more });
const all = { allRefs: true, collapsed: false };
const acting = { allRefs: false, collapsed: true };
const written = (items: readonly Item[], detail = all) =>
  linesOf(items, detail).map(({ depth, text }) => " ".repeat(depth) + text);

test("an element is written with its role, name, states, ref and text, a link with its address when asked for", () => {
  const link = item("link", {
    name: "More\n about",
    states: ["expanded", "focused"],
    ref: "e3",
    acts: true,
    url: `https://a.example/${"x".repeat(200)}`,
    text: "now",
  });
  expect(written([link])).toEqual(['link "More about" [expanded] [focused] [e3]: now']);
  const [withUrl = ""] = linesOf([link], { ...all, urls: true });
  expect((withUrl as { text: string }).text).toBe(
    `link "More about" [expanded] [focused] [e3] → ${link.url?.slice(0, 120)}: now`,
  );
  expect(written([words("so it is", { ref: "e4" })])).toEqual(["so it is [e4]"]);
});

test("without all refs an element has one if it can be acted on or has parts, and a row none beside one that can", () => {
  const region = item("region", { ref: "e1", children: [words("a", { ref: "e2" }), button("Go", { ref: "e3" })] });
  expect(written([region], acting)).toEqual(["region [e1]", " a", ' button "Go" [e3]']);
  const row = item("row", { ref: "e1", children: [words("a", { ref: "e2" }), button("Go", { ref: "e3" })] });
  expect(written([row])).toEqual(['a [e2] | button "Go" [e3]']);
  const [a, b] = [words("a", { ref: "e2" }), words("b", { ref: "e3" })];
  expect(written([item("row", { ref: "e1", children: [a] })])).toEqual(["a [e2]"]);
  expect(written([item("row", { ref: "e1", children: [a, b] })])).toEqual(["row [e1]: a | b"]);
});

test("long names and texts are cut, and what is missing is counted", () => {
  const long = "n".repeat(450);
  expect(written([button(long)])).toEqual([`button "${"n".repeat(100)}… (+350 characters)"`]);
  expect(written([item("heading", { name: long })])).toEqual([`heading "${"n".repeat(400)}… (+50 characters)"`]);
  expect(written([words(`${"n".repeat(399)}😀`)])).toEqual([`${"n".repeat(399)}… (+2 characters)`]);
  expect(written([words("n".repeat(400))])).toEqual(["n".repeat(400)]);
});

test("a short row stands on one line; one that is long, wide or nested has lines of its own", () => {
  const row = (children: readonly Item[]) => written([item("row", { children })]).length;
  expect(row([words("a"), words("b")])).toBe(1);
  expect(row(Array.from({ length: 12 }, () => words("a")))).toBe(1);
  expect(row(Array.from({ length: 13 }, () => words("a")))).toBe(14);
  expect(row([words("a".repeat(300)), words("b")])).toBe(3);
  expect(row([item("group", { children: [words("a")] })])).toBe(2);
  expect(written([item("table", { children: [words("a")] })])).toEqual(["table", " a"]);
});

test("a closed dropdown is one line with what is chosen and its first entries; an open one has lines", () => {
  const entries = (count: number, ref?: string) =>
    Array.from({ length: count }, (_, n) =>
      item("option", { name: `o${n}`, ref, states: n === 1 ? ["selected"] : [] }),
    );
  expect(written([item("combobox", { name: "Size", children: entries(3) })])).toEqual([
    'combobox "Size": o1 (entries: o0 | o1 | o2)',
  ]);
  const [many = ""] = written([item("combobox", { children: entries(14) })]);
  expect(many).toEndWith("| o11 … 2 more)");
  expect(written([item("combobox", { children: entries(2, "e9") })])).toHaveLength(3);
});

test("of twelve or more alike out of view the nearest three are written, and the others counted, with the way to them", () => {
  const list = (count: number, ref?: string) =>
    item("list", {
      ref,
      children: Array.from({ length: count }, (_, n) => item("listitem", { name: `i${n}`, away: n < 2 ? 0 : n * 100 })),
    });
  expect(written([list(11)], acting)).toHaveLength(12);
  const above = Array.from({ length: 12 }, (_, n) =>
    item("listitem", { name: `i${n}`, away: n < 9 ? 900 - n * 100 : 0 }),
  );
  expect(written([item("list", { children: above })], acting).slice(1)).toEqual([
    " … 6 more like this (browser_snapshot{full: true} shows them)",
    ...[6, 7, 8, 9, 10, 11].map((n) => ` listitem "i${n}"`),
  ]);
  // Others between them begin a new run.
  const mixed = [...above, words("between"), ...above];
  expect(
    written([item("list", { children: mixed })], acting).filter((line) => line.includes("6 more like this")),
  ).toHaveLength(2);
  expect(written([list(12, "e7")], acting).slice(1)).toEqual([
    ...[0, 1, 2, 3, 4].map((n) => ` listitem "i${n}"`),
    ' … 7 more like this (browser_snapshot{expand: "e7"} shows them)',
  ]);
  expect(written([list(12)], acting).at(-1)).toContain("(browser_snapshot{full: true} shows them)");
  expect(written([list(12)])).toHaveLength(13);
});

test("lines that act, headings, dialogs and alerts come before others as near, and those in view before all", () => {
  const ranks = linesOf(
    [
      button("a"),
      item("heading", { name: "b" }),
      item("dialog"),
      item("alert"),
      words("c"),
      item("row", { children: [button("d")] }),
    ],
    all,
  );
  expect(ranks.map(({ rank }) => rank)).toEqual([0, 0, 0, 0, 1, 0]);
  const lines = linesOf(
    [
      words("seen text"),
      words("far text", { away: 5_000 }),
      button("far", { away: 5_000 }),
      button("near", { away: 10 }),
      words("near text", { away: 10 }),
      button("seen"),
    ],
    all,
  );
  const order: number[] = [];
  for (let tokens = 1; order.length < lines.length && tokens < 200; tokens++)
    for (const at of chooseLines(lines, tokens)) if (!order.includes(at)) order.push(at);
  expect(order.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
  expect([...chooseLines(lines, 30)].map((at) => lines[at]?.text).slice(0, 2)).toEqual(['button "seen"', "seen text"]);
});

test("a chosen line brings the lines it belongs to, and hidden ones are counted", () => {
  const lines = linesOf(
    [item("table", { children: [item("group", { children: [button("deep")] }), words("w".repeat(200))] })],
    all,
  );
  const shown = chooseLines(lines, 40);
  expect(linesText(lines, shown)).toBe('- table\n - group: button "deep"\n… 1 line left out');
  expect(linesText(lines, new Set())).toBe("… 3 lines left out");
  expect(linesText(lines, new Set([2]))).toStartWith("… 2 lines left out\n - w");
});

test("no line is chosen without the one it belongs to, however far that is and however little room there is", () => {
  const far = item("region", {
    away: 9_000,
    name: "Top",
    children: [button("deep"), item("table", { children: [words("cell")] })],
  });
  const lines = linesOf([far, ...Array.from({ length: 9 }, (_, n) => words(`filler ${n}`))], all);
  const orphans = Array.from({ length: 90 }, (_, tokens) => {
    const chosen = chooseLines(lines, tokens);
    return [...chosen].filter((at) => (lines[at]?.parent ?? -1) >= 0 && !chosen.has(lines[at]?.parent ?? -1));
  });
  expect(orphans.flat()).toEqual([]);
  expect(chooseLines(lines, 30).has(1)).toBe(true);
});

test("a text is found whatever its case, with what it belongs to and what is around; too many places are counted", () => {
  const lines = linesOf(
    [
      item("region", {
        name: "Top",
        children: [words("a"), words("b"), words("Needle"), words("c"), words("d"), words("e")],
      }),
    ],
    all,
  );
  expect(findLines(lines, "needle", 500)).toBe('- region "Top"\n…\n - b\n - Needle\n - c\n - d');
  expect(findLines(lines, "nothing", 500)).toBe("");
  const many = linesOf(
    Array.from({ length: 50 }, (_, n) => words(`Needle ${n}`)),
    all,
  );
  const found = findLines(many, "NEEDLE", 60);
  const shown = found.match(/Needle/g)?.length ?? 0;
  expect(shown).toBeLessThan(20);
  // Of the last two lines shown, each is a place, which is shown with the one before.
  expect(found).toEndWith(`\n… ${50 - shown + 2} more places: look for a longer text.`);
});

test("the whole is read on from a line, to a bound, and its end is told", () => {
  const items = Array.from({ length: 9 }, (_, n) => words(`line ${n + 1}`));
  expect(wholeText(items, 8, 500)).toBe("- line 8\n- line 9");
  expect(wholeText(items, 10, 500)).toBe("None of 9 lines is from 10 on.");
  const part = wholeText(items, 3, 12);
  const next = 3 + part.split("\n").length - 1;
  expect(part).toStartWith("- line 3\n");
  expect(part).toEndWith(`\n… ${9 - next + 1} more lines: from: ${next} reads on.`);
});

const look = (items: readonly Item[], more: Partial<PageLook> = {}) =>
  ({
    url: "https://a.example/",
    title: "",
    items,
    crowded: false,
    measure: { width: 1280, height: 800, above: 0, below: 0, elements: 9 },
    ...more,
  }) as PageLook;

test("on a small page every element has its ref, on a long one only those that act", () => {
  const small = linesOfLook(look([words("a", { ref: "e1" })]), 1_000);
  expect(small.lines[0]?.text).toBe("a [e1]");
  const long = linesOfLook(look(Array.from({ length: 61 }, () => words("a", { ref: "e1" }))), 9_000);
  expect(long.lines[0]?.text).toBe("a");
  expect(linesOfLook(look([words("w".repeat(300), { ref: "e1" })]), 60).lines[0]?.text).not.toContain("e1");
  // What was written one way goes on like that.
  expect(linesOfLook(look([words("a", { ref: "e1" })]), 1_000, acting).lines[0]?.text).toBe("a");
});

test("the body says its title, what was left out and how to see more", () => {
  const body = (page: PageLook, tokens = 500) => bodyOf(page, linesOfLook(page, tokens));
  expect(body(look([]))).toBe('<web-content from="https://a.example">\n(nothing is on the page)\n</web-content>');
  expect(body(look([words("a")], { title: ` ${"t ".repeat(100)}` }))).toBe(
    `<web-content from="https://a.example">\nTitle: ${` ${"t ".repeat(100)}`.slice(0, 150)}\n- a\n</web-content>`,
  );
  const crowded = body(look([words("a")], { crowded: true }));
  expect(crowded).toEndWith(
    'The page has 9 elements; of the last ones, only what is near the window is listed. browser_snapshot{find: "…"} finds the rest.',
  );
  expect(body(look(Array.from({ length: 99 }, () => words("a b c d e f"))), 60)).toEndWith("{full: true} everything.");
  expect(body(look([words("a")]))).not.toContain("browser_snapshot");
});

test("the header has the address, the tabs, the part in view and what holds the page up", () => {
  const page = (url: string) => ({ url: () => url });
  const tabs = [
    { id: 1, page: page("https://a.example/") },
    { id: 3, page: page(`https://b.example/${"x".repeat(400)}`) },
  ];
  const dialog = { kind: "prompt", message: "m".repeat(2_000), defaultText: "Bob" };
  const browsing = (active: number, open: unknown, shown = tabs) =>
    ({ active: () => shown[active], tabs: () => shown, dialog: () => open }) as unknown as Browsing;
  const measure = (above: number, below: number) =>
    look([], { measure: { width: 1280, height: 800, above, below } as PageLook["measure"] });
  expect(headerOf(browsing(0, undefined, tabs.slice(0, 1)), measure(0, 0))).toEqual(["Page: https://a.example/"]);
  expect(headerOf(browsing(0, undefined), measure(0, 800)).at(-1)).toBe(
    "Window: 1280×800 px; 0 px above, 800 px below (0 % scrolled)",
  );
  expect(headerOf(browsing(0, undefined), measure(800, 0)).at(-1)).toEndWith(
    "800 px above, 0 px below (100 % scrolled)",
  );
  const long = tabs[1]?.page.url() ?? "";
  expect(headerOf(browsing(1, undefined), measure(300, 900))).toEqual([
    `Page: ${long.slice(0, 300)}…`,
    `Tabs: 1 https://a.example/; 3 (active) ${long.slice(0, 80)}…`,
    "Window: 1280×800 px; 300 px above, 900 px below (25 % scrolled)",
  ]);
  expect(headerOf(browsing(0, dialog, tabs.slice(0, 1)), undefined)).toEqual([
    "Page: https://a.example/",
    `A prompt dialog holds the page up, its default answer is "Bob". Answer it with browser_handle_dialog. It says:\n<web-content from="https://a.example/">\n${"m".repeat(1_000)}\n</web-content>`,
  ]);
  expect(headerOf(browsing(0, { ...dialog, kind: "confirm" }), undefined).at(-1)).not.toContain("Bob");
  expect(notesOf(["one", "two"])).toEqual(["Note: one", "Note: two"]);
});
