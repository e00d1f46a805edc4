import { expect, test } from "bun:test";
import { holdsPrivate, longestName, sourcesIn, sourcesOf } from "./taken-in.ts";

test("everything but the open web may be private, wherever it stands among the sources", () => {
  const lists = [[], ["web"], ["web", "web"], ["file"], ["web", "file"], ["file", "web"]];
  expect(lists.map(holdsPrivate)).toEqual([false, false, false, true, true, true]);
});

test("a tool brings what it says, also nothing, and otherwise itself, by a name of bounded length", () => {
  expect(sourcesOf({ name: "sql", brings: ["web"] })).toEqual(["web"]);
  expect(sourcesOf({ name: "sql", brings: [] })).toEqual([]);
  expect(sourcesOf({ name: "sql" })).toEqual(["sql"]);
  expect(sourcesOf({ name: "n".repeat(longestName + 1) })).toEqual(["n".repeat(longestName)]);
});

test("what a message brings besides words is named once for each kind", () => {
  const file = { type: "file", sha256: "a", name: "a", mediaType: "text/plain", size: 1 } as const;
  const [data, text, url] = [
    { type: "data", data: 1 },
    { type: "text", text: "hi" },
    { type: "url", url: "https://a.example" },
  ] as const;
  expect(sourcesIn([text, url])).toEqual([]);
  expect(sourcesIn([file, text, data, file])).toEqual(["file", "data"]);
});
