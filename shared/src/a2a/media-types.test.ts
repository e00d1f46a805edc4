import { expect, test } from "bun:test";
import type { Part as WirePart } from "@a2a-js/sdk";
import { checkMediaTypes, withFittingType } from "./media-types.ts";

const part = (content: NonNullable<WirePart["content"]>, mediaType: string): WirePart => ({
  content,
  mediaType,
  filename: "",
  metadata: undefined,
});

test("what another agent gave an odd type goes on to an agent of ours without it", () => {
  const odd = part({ $case: "data", value: { a: 1 } }, "application/x-odd");
  expect(() => checkMediaTypes([odd])).toThrow("is not supported");
  expect(withFittingType(odd)).toEqual({ ...odd, mediaType: "" });
  checkMediaTypes([withFittingType(odd)]);
  const page = part({ $case: "text", value: "# x" }, "text/markdown; charset=utf-8");
  expect(withFittingType(page)).toBe(page);
});
