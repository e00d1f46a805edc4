import { expect, test } from "bun:test";
import { beginningOf } from "./beginning-of.ts";

test.each([
  ["<p>a<p>b<p>c", 2, "<p>a<p>b"],
  ["<p>a<p>b</p></p></p>c", 2, "<p>a<p>b</p></p></p>c"],
  ["<p a=\"1 2 3\" b='x>y'c d=1>t</p><b>", 5, "<p a=\"1 2 3\" b='x>y'c d=1>t</p>"],
  ['<p a="1 2 3" b>t', 2, ""],
  ["t<p/a/b\n c = d>", 3, "t"],
  ["<p\ta  b >t", 3, "<p\ta  b >t"],
  ["a < b <3 <!-- x --> <!doctype html>", 0, "a < b <3 <!-- x --> <!doctype html>"],
  ["<script>a<b c d e</SCRIPT><style x>p<q</style><i><b>", 4, "<script>a<b c d e</SCRIPT><style x>p<q</style><i>"],
  ["<script>a<b <c <d", 1, "<script>a<b <c <d"],
  ["<scripts><b>", 1, "<scripts>"],
  ['<a href="never closed <b><b><b>', 2, '<a href="never closed <b><b><b>'],
  ["", 0, ""],
])("of %j with at most %i parts there remains %j", (html, most, remains) => {
  expect(beginningOf(html, most)).toBe(remains);
});

test("by default a page has a hundred thousand", () => {
  const page = "<p>x".repeat(100_000);
  expect(beginningOf(page)).toBe(page);
  expect(beginningOf(`${page}<p>y`)).toBe(page);
  expect(beginningOf(`<p ${"a ".repeat(100_000)}>`)).toBe("");
});
