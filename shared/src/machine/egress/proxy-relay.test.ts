import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { countBytes } from "./proxy-relay.ts";

test.each([
  [["ab", "cd"], "abcd", 0],
  [["abcd"], "abcd", 0],
  [["ab", "cde"], "ab", 1],
  [["abcde"], "", 1],
  [["abcd", "e", "f"], "abcd", 1],
])("of %j four bytes are passed on, and the next one is told once", async (chunks, passed, told) => {
  const got: string[] = [];
  let more = 0;
  const counted = countBytes(4, () => more++);
  counted.on("data", (chunk: Buffer) => got.push(chunk.toString()));
  await pipeline(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), counted).catch(() => undefined);
  expect([got.join(""), more]).toEqual([passed, told]);
});
