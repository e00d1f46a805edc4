import { expect, test } from "bun:test";
import type { Part as WirePart } from "@a2a-js/sdk";
import type { Json } from "../core/json.ts";
import { asData, checkMediaTypes, wantsData, withFittingType } from "./media-types.ts";

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

test.each([
  [[], false],
  [["*/*"], false],
  [["application/*"], false],
  [["application/octet-stream"], false],
  [["text"], false],
  [["TEXT/Plain; charset=utf-8"], false],
  [["application/json", "text/markdown"], false],
  [["application/json"], true],
  [["image/png", "application/vnd.x+json; v=1"], true],
  [["data"], true],
  [["json"], true],
])("who accepts %j wants data: %p", (modes, wants) => {
  expect(wantsData(modes)).toBe(wants);
});

test("of an answer in text and data a caller of data gets the data, and of text alone its JSON or itself", () => {
  const text = (value: string) => ({ type: "text", text: value }) as const;
  const data = { type: "data", data: 1, mediaType: "application/x+json" } as const;
  const file = { type: "file", sha256: "a", name: "a", mediaType: "text/plain", size: 1 } as const;
  const json = (value: Json) => ({ type: "data", mediaType: "application/json", data: value }) as const;
  expect(asData([text("It is."), data, file])).toEqual([data, file]);
  expect(asData([{ type: "data", data: 0 }])).toEqual([json(0)]);
  expect(asData([text("[1]"), file])).toEqual([json([1]), file]);
  for (const plain of ["It is.", "3", "null", '"x"', "{"])
    expect(asData([text(plain)])).toEqual([json({ text: plain })]);
});

test.each([
  [{ $case: "text", value: "x" }, "image/png", false],
  [{ $case: "text", value: "x" }, "application/ld+json", true],
  [{ $case: "text", value: "x" }, "text", true],
  [{ $case: "data", value: 1 }, "text/plain", false],
  [{ $case: "data", value: 1 }, "application/geo+json", true],
  [{ $case: "raw", value: Buffer.from("x") }, "image/png", true],
  [{ $case: "raw", value: Buffer.from("x") }, "text", true],
  [{ $case: "raw", value: Buffer.from("x") }, "png", false],
  [{ $case: "url", value: "http://a.example" }, "image/", false],
  [{ $case: "url", value: "http://a.example" }, "", true],
] as const)("a part with %j of the type %p is taken: %p", (content, mediaType, taken) => {
  const check = () => checkMediaTypes([part(content, mediaType)]);
  if (taken) check();
  else expect(check).toThrow("is not supported");
});
