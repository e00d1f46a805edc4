import { expect, test } from "bun:test";
import { asShown, shownFrom } from "./as-shown.ts";

const note = "[terminal sequences, such as colours, are left out; cat -v shows them]";

test("of a line that is drawn again and again the first and the last state are shown, and how many were between", () => {
  const drawn = Array.from({ length: 60 }, (_, at) => `\r${at + 1} %`).join("");
  expect(asShown(`begin${drawn}\ndone\n`)).toBe(
    "begin\n[… 59 more states of this line, each drawn over the one before by \\r …]\n60 %\ndone\n",
  );
  expect(asShown("a\rb\rc\rd\re\r\nf")).toBe(
    "a\n[… 3 more states of this line, each drawn over the one before by \\r …]\ne\r\nf",
  );
});

test("lines that end with a carriage return, and few states, stay as they are", () => {
  for (const text of ["a\r\nb\r\nc\r\nd\r\ne\r\n", "a\rb\rc\rd\n", "\r\r\r\r\r\r\n", "plain\n", ""])
    expect(asShown(text)).toBe(text);
});

test("colours, titles and moves of the cursor are left out, which is said once", () => {
  expect(asShown("\x1b[31mred\x1b[0m\n\x1b]0;title\x07b\x1b[24;1H\n")).toBe(`red\nb\n${note}`);
  expect(asShown("\x1b[2K\r")).toBe(`\r\n${note}`);
  expect(asShown("\x1b[1mbold\x1b[0m")).toBe(`bold\n${note}`);
});

test("places in files of the workspace are named by the paths that tools take, and other texts stay", () => {
  const root = "/home/a/.manyhands/workspaces/0a1b/files";
  const shown = shownFrom(root);
  expect(shown(`  File "${root}/my lib/money.py", line 18, in parse`)).toBe(
    '  File "my lib/money.py", line 18, in parse',
  );
  expect(shown(`    at parse (${root}/src/a.ts:3:9)\n    at file://${root}/b.mjs:1:2`)).toBe(
    "    at parse (src/a.ts:3:9)\n    at b.mjs:1:2",
  );
  expect(shown(`${root}/main.c:4:2: error: expected ';'`)).toBe("main.c:4:2: error: expected ';'");
  for (const text of [
    `${root}/made.txt`,
    `cwd is ${root}`,
    `File "/usr/lib/python3/ast.py", line 3`,
    `${root}x/a.py:3`,
  ])
    expect(shown(text)).toBe(text);
});
