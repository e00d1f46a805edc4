import { expect, test } from "bun:test";
import { sameSecret } from "./same-secret.ts";

test("secrets are the same only if every character is, whatever their lengths", () => {
  expect(sameSecret("open sesame", "open sesame")).toBe(true);
  for (const other of ["open sesam", "open sesame ", "Open sesame", ""])
    expect(sameSecret("open sesame", other)).toBe(false);
  expect(sameSecret("", "")).toBe(true);
});
