import { expect, test } from "bun:test";
import { wellFormed } from "./well-formed.ts";

test("halves of surrogate pairs that stand alone are replaced wherever they are; everything else stays the same object", () => {
  const fine = { a: ["x 😀", 1, null, { b: true }], c: undefined };
  expect(wellFormed(fine)).toBe(fine);
  const broken = { fine, "k\ud83d": ["a\ud83d", { deep: "\ude00b" }], n: 0 };
  const mended = wellFormed(broken);
  expect(mended).toEqual({ fine, "k\ufffd": ["a\ufffd", { deep: "\ufffdb" }], n: 0 } as never);
  expect(mended.fine).toBe(fine);
  expect([wellFormed("\ud83d"), wellFormed("😀"), wellFormed(1), wellFormed(null)]).toEqual(["\ufffd", "😀", 1, null]);
});
