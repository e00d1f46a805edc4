import { expect, test } from "bun:test";
import fc from "fast-check";
import { hostile } from "../testing/console-fixture.ts";
import { parseMarkdown } from "./parts/parse-markdown.ts";

const text = (text: string) => ({ type: "text" as const, text });

test("the parts of an answer are distinguished", () => {
  expect(parseMarkdown("# A `b`\n\nOne **two**\nthree\n- x\n- y\n> said\n---")).toEqual([
    { type: "heading", level: 1, inline: [text("A "), { type: "code", text: "b" }] },
    { type: "paragraph", inline: [text("One "), { type: "strong", text: "two" }, text("\nthree")] },
    { type: "list", ordered: false, items: [[text("x")], [text("y")]] },
    { type: "quote", inline: [text("said")] },
    { type: "rule" },
  ]);
  expect(parseMarkdown("```js\n# **no** heading\n```\n|a|b|\n|-|-|\n|1|2|")).toEqual([
    { type: "code", text: "# **no** heading" },
    {
      type: "table",
      rows: [
        [[text("a")], [text("b")]],
        [[text("1")], [text("2")]],
      ],
    },
  ]);
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
    `# a${" ".repeat(200_000)}x`,
    `# a ${"#".repeat(200_000)}x`,
  ])
    parseMarkdown(long);
  expect(performance.now() - begun).toBeLessThan(30_000);
});
