import { expect, test } from "bun:test";
import { asShown } from "./as-shown.ts";

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
