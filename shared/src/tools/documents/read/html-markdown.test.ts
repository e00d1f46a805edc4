import { expect, test } from "bun:test";
import { htmlMarkdown } from "./html-markdown.ts";
import { markdownTable } from "./markdown-table.ts";

test.each([
  ["<p>a <b>b</b> <i>c</i></p>", "a **b** *c*"],
  ["<p>a<script>x()</script><style>y</style><iframe src=z>w</iframe><noscript>v</noscript></p>", "a"],
  ["<p>a</p><p style='display:none'>unseen</p>", "a"],
  ["<img alt=' A plan ' src=x><img src=y>", "[picture: A plan][picture]"],
  ["<a href='https://a.example/'>to</a> <a href='mailto:a@b'>mail</a>", "[to](https://a.example/) [mail](mailto:a@b)"],
  ["<a href='javascript:x()'>js</a> <a href='#top'>in</a> <a href='https://a.example/'> </a>.", "js in ."],
  ["<ol start=3><li>c</li><li>d</li></ol><ol start=x><li>a</li></ol>", "3. c\n4. d\n\n1. a"],
  ["<ol start='0'><li>zero</li></ol>", "0. zero"],
  ["<ol><li>one<ul><li>in</li></ul></li><li>two</li></ol>", "1. one\n   - in\n2. two"],
  [
    "<table><tr><th>A</th><th>B|C</th></tr><tr><td><p>1</p><p>2</p></td></tr></table>",
    "| A | B\\|C |\n| --- | --- |\n| 1 2 |  |",
  ],
  [
    "<table><thead><tr><td>A</td></tr></thead><tbody><tr><td>x<table><tr><td>in</td></tr></table></td></tr></tbody></table>",
    "| A |\n| --- |\n| x in |",
  ],
  [
    "<table><tr><td>A</td><td>B</td><td>C</td></tr><tr><td colspan=2>Sum</td><td>9</td></tr></table>",
    "| A | B | C |\n| --- | --- | --- |\n| Sum |  | 9 |",
  ],
  [
    "<table><tr><td rowspan=2>A</td><td>B</td><td>C</td></tr><tr><td>b</td><td>c</td></tr><tr><td>a</td></tr></table>",
    "| A | B | C |\n| --- | --- | --- |\n|  | b | c |\n| a |  |  |",
  ],
  [
    "<table><tr><td colspan=9999>All</td></tr><tr><td>a</td><td colspan=x>b</td></tr></table>",
    "| All |  |\n| --- | --- |\n| a | b |",
  ],
  [
    "<p><b>12. May</b> in a_file_name [1] 2*3 C:\\x</p><p>- no list</p>",
    "**12. May** in a_file_name [1] 2*3 C:\\x\n\n- no list",
  ],
  ["<p># no heading</p>", "\\# no heading"],
  ["<title>T</title><h2>Head</h2>", "## Head"],
])("%s reads %p", (html, markdown) => {
  expect(htmlMarkdown(html)).toBe(markdown);
});

test("a table without cells is nothing, and rows of different length are filled up", () => {
  expect(markdownTable([])).toBe("");
  expect(markdownTable([[], []])).toBe("");
  expect(markdownTable([["a"], [" b\n c ", "|"]])).toBe("| a |  |\n| --- | --- |\n| b<br>c | \\| |");
});
