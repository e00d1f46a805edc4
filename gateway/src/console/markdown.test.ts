import { expect, test } from "bun:test";
import fc from "fast-check";
import { hostile } from "../testing/console-fixture.ts";
import type { Inline } from "./parts/parse-inline.ts";
import { type Block, type Item, parseMarkdown } from "./parts/parse-markdown.ts";

const text = (text: string) => ({ type: "text" as const, text });

const strong = (said: string) => ({ type: "strong" as const, inline: [text(said)] });
const link = (said: string, href: string) => ({ type: "link" as const, inline: [text(said)], href });
const paragraph = (...inline: Inline[]) => ({ type: "paragraph" as const, inline });
/** Entries of a list that are a sentence each. */
const entries = (...said: string[]) => said.map((one) => ({ blocks: [paragraph(text(one))] }));

test("the parts of an answer are distinguished", () => {
  expect(parseMarkdown("# A `b`\n\nOne **two**\nthree\n- x\n- y\n> said\n---")).toEqual([
    { type: "heading", level: 1, inline: [text("A "), { type: "code", text: "b" }] },
    paragraph(text("One "), strong("two"), text("\nthree")),
    { type: "list", items: entries("x", "y") },
    { type: "quote", blocks: [paragraph(text("said"))] },
    { type: "rule" },
  ]);
  expect(parseMarkdown("```js\n# **no** heading\n```")).toEqual([{ type: "code", text: "# **no** heading" }]);
});

test("a table keeps how its columns are aligned, needs no bars at its edges, and has room for a bar in a cell", () => {
  const rows: Inline[][][] = [
    [[text("a")], [text("b")], [text("c")]],
    [[text("1|2")], [{ type: "code", text: "x" }], []],
  ];
  const table: Block = { type: "table", align: ["start", "end", "center"], rows };
  expect(parseMarkdown("|a|b|c|\n|-|-:|:-:|\n|1\\|2|`x`||")).toEqual([table]);
  expect(parseMarkdown("a | b | c\n--|--:|:-:\n1\\|2 | `x`\n\nEnd")).toEqual([table, paragraph(text("End"))]);
});

test("lists are in lists, keep their numbers and what is indented below an entry, and say which tasks are done", () => {
  const steps =
    "1. First\n   goes on\n   - deep\n     - deeper\n\n2. Second:\n   ```sh\n   run\n     it\n   ```\n\nThen:\n3. Third";
  const deep = {
    type: "list",
    items: [{ blocks: [paragraph(text("deep")), { type: "list", items: entries("deeper") }] }],
  };
  expect(parseMarkdown(steps)).toEqual([
    {
      type: "list",
      start: 1,
      items: [
        { blocks: [paragraph(text("First\ngoes on")), deep] },
        { blocks: [paragraph(text("Second:")), { type: "code", text: "run\n  it" }] },
      ],
    },
    paragraph(text("Then:\n3. Third")),
  ] as Block[]);
  expect(parseMarkdown("3. Third\n\nand\n\n4. Fourth")).toEqual([
    { type: "list", start: 3, items: entries("Third") },
    paragraph(text("and")),
    { type: "list", start: 4, items: entries("Fourth") },
  ]);
  const [done, open] = entries("done", "open");
  expect(parseMarkdown("- [x] done\n- [ ] open\n1) one")).toEqual([
    {
      type: "list",
      items: [
        { done: true, ...done },
        { done: false, ...open },
      ] as Item[],
    },
    { type: "list", start: 1, items: entries("one") },
  ]);
});

test("marks are read within marks, in each way to write them, and what is none stays as it was written", () => {
  const inlineOf = (line: string) => (parseMarkdown(line)[0] as unknown as { inline: Inline[] }).inline;
  const em = (said: string) => ({ type: "em", inline: [text(said)] });
  expect(inlineOf("**a `b` [c](https://c.example/)** __d__ _e_ *f* ~~g~~ ***h***")).toEqual([
    { type: "strong", inline: [text("a "), { type: "code", text: "b" }, text(" "), link("c", "https://c.example/")] },
    text(" "),
    strong("d"),
    text(" "),
    em("e"),
    text(" "),
    em("f"),
    text(" "),
    { type: "del", inline: [text("g")] },
    text(" "),
    { type: "strong", inline: [em("h")] },
  ] as Inline[]);
  expect(inlineOf("a<br>b ``x`y`` \\*z\\*")).toEqual([
    text("a"),
    { type: "break" },
    text("b "),
    { type: "code", text: "x`y" },
    text(" *z*"),
  ]);
  for (const plain of ["snake_case_name and 2 * 3 * 4", "a_b_ _c", "** no **", "~ 5 ~", "<b>x</b>", "`open", "**open"])
    expect(inlineOf(plain)).toEqual([text(plain)]);
});

test("an address in a sentence ends before what belongs to the sentence", () => {
  const addressesOf = (line: string) => JSON.stringify(parseMarkdown(line)).match(/(?<="href":")[^"]+/g);
  for (const after of [".", ",", "!", "?", ":", "。", "）", ").", "**", ""])
    expect(addressesOf(`See https://a.example/x${after}`)).toEqual(["https://a.example/x"]);
  const wiki = "https://a.example/x_(y)";
  for (const around of [wiki, `(${wiki})`, `[a](${wiki})`, `[a [b]](${wiki} "Title")`, `<${wiki}>`])
    expect(addressesOf(around)).toEqual([wiki]);
});

test("only web addresses become links, images too, and other link text stays as it was written", () => {
  const [paragraph] = parseMarkdown(
    "[a](https://a.example/x) ![b](http://b.example/) [c](javascript:alert(1)) [d](//d) [e](data:x)",
  );
  const { inline } = paragraph as unknown as { inline: { type: string; text: string; href?: string }[] };
  expect(inline.flatMap(({ href }) => href ?? [])).toEqual(["https://a.example/x", "http://b.example/"]);
  expect(inline.map((part) => part.text).join("")).toContain("[c](javascript:alert(1)) [d](//d) [e](data:x)");
});

test("any text is parsed quickly, and every link leads to the web", () => {
  const piece = fc.constantFrom(
    "`",
    "*",
    "**",
    "[",
    "](",
    ")",
    "![",
    "http://",
    "javascript:",
    "#",
    "\n",
    "|",
    "> ",
    "- ",
    "1. ",
    "  ",
    "_",
    "~~",
    "\\",
    "```",
    " ",
    "a",
    hostile,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 400 }), (pieces) => {
      const begun = performance.now();
      const links = JSON.stringify(parseMarkdown(pieces.join(""))).matchAll(/"href":"([^"]*)"/g);
      for (const [, href] of links) expect(href).toMatch(/^https?:\/\//);
      expect(performance.now() - begun).toBeLessThan(10_000);
    }),
    { numRuns: 200 },
  );
  const begun = performance.now();
  for (const long of [
    "[".repeat(100_000),
    "*a".repeat(50_000),
    "![](".repeat(30_000),
    "`".repeat(100_000),
    "|".repeat(100_000),
    `a|b\n${"-|".repeat(50_000)}x`,
    `- a${"\n".repeat(100_000)}  b`,
    `${"- ".repeat(50_000)}a`,
    Array.from({ length: 3_000 }, (_, deep) => `${" ".repeat(deep)}- a`).join("\n"),
    "> ".repeat(50_000),
    "**a ".repeat(25_000),
    "__a ".repeat(25_000),
    "*a **b ~~c ".repeat(10_000),
    "`a ``b ".repeat(12_000),
    "[a](b".repeat(20_000),
    "[[a]".repeat(25_000),
    `https://a.example/${")".repeat(100_000)}`,
    "\\".repeat(100_000),
    `# a${" ".repeat(200_000)}x`,
    `# a ${"#".repeat(200_000)}x`,
  ])
    parseMarkdown(long);
  expect(performance.now() - begun).toBeLessThan(30_000);
});
