import { expect, test } from "bun:test";
import { createOutputWindow } from "./output-window.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a short output is kept unchanged, whatever pieces it comes in", () => {
  const whole = bytes("ä€𝄞 short enough to be kept whole, with letters of several bytes: ü");
  for (let size = 1; size <= whole.length; size++) {
    const window = createOutputWindow(40);
    for (let at = 0; at < whole.length; at += size) window.push(whole.subarray(at, at + size));
    expect(window.text()).toBe(new TextDecoder().decode(whole));
    expect([window.total, window.cut]).toEqual([whole.length, false]);
  }
});

test("of a long output the beginning and the end are kept, and the gap is noted", () => {
  const window = createOutputWindow(4);
  for (const piece of ["abc", "def", "ghijklmnop", "q", "", "rstuvwxyz"]) window.push(bytes(piece));
  expect(window.text()).toBe("abcd\n[… 18 bytes left out …]\nwxyz");
  expect([window.total, window.cut]).toEqual([26, true]);
});

test("a pushed chunk may be overwritten afterwards", () => {
  const window = createOutputWindow(4);
  const piece = bytes("abcdefgh");
  window.push(piece);
  piece.fill(0);
  expect(window.text()).toBe("abcdefgh");
});
