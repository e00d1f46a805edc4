import { expect, test } from "bun:test";
import type { Part } from "../core/message.ts";
import { toWirePart } from "./wire-part.ts";

const sha256 = "a".repeat(64);

test.each<readonly [Part, { readonly content: unknown } & Record<string, unknown>]>([
  [
    { type: "text", text: "Hi", mediaType: "text/markdown" },
    { content: "Hi", mediaType: "text/markdown" },
  ],
  [{ type: "data", data: { n: 1 } }, { content: { n: 1 } }],
  [
    { type: "url", url: "https://x.example/1", name: "a.txt", mediaType: "text/plain" },
    { content: "https://x.example/1", filename: "a.txt", mediaType: "text/plain" },
  ],
  [{ type: "url", url: "https://x.example/1" }, { content: "https://x.example/1" }],
  [
    { type: "file", sha256, size: 3, name: "a/b.txt", mediaType: "text/plain" },
    {
      content: `https://us.example/artifacts/${sha256}/a%2Fb.txt`,
      ...{ filename: "a/b.txt", mediaType: "text/plain" },
      metadata: { "manyhands/file": { sha256, size: 3 } },
    },
  ],
])("the part %j has in A2A's form its name, its type and what it is", (part, { content, ...about }) => {
  const { content: made, ...rest } = toWirePart(part, "https://us.example/");
  expect(made?.value).toEqual(content as string);
  expect(rest).toEqual({ filename: "", mediaType: "", metadata: undefined, ...about });
});
