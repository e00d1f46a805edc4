import { beforeAll, expect, test } from "bun:test";
import { apiPage, type Entry, readEntries } from "../../docs/site/api.ts";
import { readGuide } from "./markdown.ts";

let entries: Entry[];
beforeAll(async () => {
  entries = await readEntries();
}, 60_000);

test("the entries are those that the package exports", async () => {
  const { exports } = await Bun.file(Bun.resolveSync("manyhands/package.json", import.meta.dir)).json();
  const named = Object.keys(exports).filter((key) => !key.startsWith("./internal/"));
  expect(entries.map(({ name }) => name.replace("manyhands", ".")).toSorted()).toEqual(named.toSorted());
  expect(entries.flatMap((entry) => entry.exports).length).toBeGreaterThan(80);
});

test("every entry and every public export has a doc sentence", () => {
  expect(entries.filter(({ about }) => about === "").map(({ name }) => name)).toEqual([]);
  const silent = entries.flatMap((entry) =>
    entry.exports.filter(({ doc }) => doc === "").map(({ name }) => `${entry.name}: ${name}`),
  );
  expect(silent).toEqual([]);
});

test("the reference says what the sources say; bun docs/site/write.ts writes it anew", async () => {
  expect(await readGuide("api.md")).toBe(apiPage(entries));
});
