import { expect, spyOn, test } from "bun:test";
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

test("what fits exactly is whole, one byte more is cut, and the parts hold 32 kB each", () => {
  for (const [length, text, cut] of [
    [8, "x".repeat(8), false],
    [9, "xxxx\n[… 1 bytes left out …]\nxxxx", true],
  ] as const) {
    const window = createOutputWindow(4);
    window.push(bytes("x".repeat(length)));
    expect([window.text(), window.cut, window.total]).toEqual([text, cut, length]);
  }
  const window = createOutputWindow();
  window.push(bytes("x".repeat(65_537)));
  expect(window.text()).toBe(`${"x".repeat(32_768)}\n[… 1 bytes left out …]\n${"x".repeat(32_768)}`);
});

test("the memory of a window does not grow with the output, and it leaves none behind", () => {
  const made = { bytes: 0 };
  const window = createOutputWindow(1000);
  const pieces = [500, 1, 999, 1000, 1001, 5000].map((size) => bytes("x".repeat(size)));
  {
    using joins = spyOn(Buffer, "concat");
    using copies = spyOn(Uint8Array, "from");
    using slices = spyOn(Uint8Array.prototype, "slice");
    using sets = spyOn(Uint8Array.prototype, "set");
    for (let at = 0; at < 600; at++) window.push(pieces[at % pieces.length] ?? new Uint8Array(0));
    const written = sets.mock.contexts as Uint8Array[];
    for (const { byteLength } of new Set(written.map(({ buffer }) => buffer))) made.bytes += byteLength;
    for (const { mock } of [joins, copies, slices])
      for (const { value } of mock.results) made.bytes += (value as Uint8Array).byteLength;
  }
  expect(window.total).toBe(850_100);
  expect(made.bytes).toBeGreaterThan(2999);
  // Three parts, and what they grew out of.
  expect(made.bytes).toBeLessThanOrEqual(6000);
});
