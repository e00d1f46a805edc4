import { expect, test } from "bun:test";
import { parseHTML } from "linkedom";
import { beginningOf } from "./beginning-of.ts";

test.each([
  ["<p>a<p>b<p>c", 4, "<p>a<p>b"],
  ["<p>a<p>b</p></p></p>c", 4, "<p>a<p>b</p>"],
  ["<p>a</p></p></p></br>c", 4, "<p>a</p></p></p>"],
  ["<p a=\"1 2 3\" b='x>y'c d=1>t</p><b>", 6, "<p a=\"1 2 3\" b='x>y'c d=1>t</p>"],
  ['<p a="1 2 3" b>t', 2, ""],
  ["t<p/a/b\n c = d>", 4, "t"],
  ["t<p/a/b\n c = d>", 5, "t<p/a/b\n c = d>"],
  ["a&amp;b&nbsp;c", 3, "a&amp;b"],
  ["a<!-- x --><!-- y -->b", 2, "a<!-- x -->"],
  ["<!doctype html>", 0, "<!doctype html>"],
  ["<script>a<b c d e</SCRIPT><style x>p<q</style><i><b>", 6, "<script>a<b c d e</SCRIPT><style x>p<q</style><i>"],
  ["<scripts><b>", 1, "<scripts>"],
  ["", 0, ""],
])("of %j with at most %i parts there remains %j", (html, most, remains) => {
  expect(beginningOf(html, most)).toBe(remains);
});

test("by default a page has a hundred and fifty thousand", () => {
  const page = "<p>x".repeat(75_000);
  expect(beginningOf(page)).toBe(page);
  expect(beginningOf(`${page}<p>y`)).toBe(page);
  expect(beginningOf(`<p ${"a ".repeat(150_000)}>`)).toBe("");
});

/** What a reader of its own would take for a script's content, an attribute or nothing. */
test.each([
  ["after a script that closes itself", "<script/>", "<b>x</b>"],
  ["after a script in a comment", "<!--<script>-->", "<b>x</b>"],
  ["after a script in a title", "<title><script></title>", "<b>x</b>"],
  ["after a script in an attribute", '<p a= "><script>">', "<b>x</b>"],
  ["of text between entities", "", "&amp;"],
  ["of text between signs that open no tag", "", "< "],
  ["of comments", "", "<!---->"],
  ["that end tags make", "", "</p>"],
  ["in a drawing", "<svg><script/>", "<![CDATA[x]]>"],
])("no page has more parts than these once it is parsed: %s", (_, start, repeated) => {
  const page = beginningOf(`<html><body>${start}${repeated.repeat(30_000)}`, 1_000);
  expect(page).not.toBe("");
  expect(countNodes(parseHTML(page).document as unknown as Node)).toBeLessThan(1_010);
});

type Node = { readonly childNodes: Iterable<Node> };

function countNodes(node: Node): number {
  let nodes = 1;
  for (const child of node.childNodes) nodes += countNodes(child);
  return nodes;
}
