import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { apiPage, type Entry, readEntries } from "../../docs/site/api.ts";
import { readGuide } from "./markdown.ts";

let entries: Entry[];
beforeAll(async () => {
  entries = await readEntries();
});

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

test("every type that a public declaration names can be imported from the package, or is a library's", async () => {
  const folder = join(import.meta.dir, "../../shared/src");
  const ours = new Set<string>();
  for await (const path of new Bun.Glob("**/*.ts").scan({ cwd: folder, absolute: true }))
    for (const [, name] of (await Bun.file(path).text()).matchAll(/^(?:export )?(?:type|interface|class) (\w+)/gm))
      ours.add(name ?? "");
  expect(ours.size).toBeGreaterThan(500);
  const importable = new Set(entries.flatMap((entry) => entry.exports.map(({ name }) => name)));
  const missing = entries.flatMap((entry) =>
    entry.exports.flatMap(({ name, declaration }) =>
      namedTypes(declaration)
        .filter((type) => ours.has(type) && !importable.has(type))
        .map((type) => `${entry.name}: ${type}, of ${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

/** The types that a declaration names, without its type parameters. */
function namedTypes(declaration: string): string[] {
  const code = declaration.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|"[^"]*"/g, "");
  const parameters = /^\w+ \w+<([^(){}=;]*)/.exec(code)?.[1]?.matchAll(/(?:^|, )(\w+)/g) ?? [];
  const own = new Set([...parameters].map(([, name]) => name));
  return [...new Set(code.match(/(?<![.\w])[A-Z]\w*/g))].filter((name) => !own.has(name));
}

test("a computed type is readable: its declaration has a line for each property and member", () => {
  const wide = entries.flatMap((entry) =>
    entry.exports.flatMap(({ name, declaration }) =>
      // A comment is as long as whoever wrote it made it.
      declaration.split("\n").some((line) => line.length > 130 && !line.trim().startsWith("/**"))
        ? `${entry.name}: ${name}`
        : [],
    ),
  );
  expect(wide).toEqual([]);
});

test("the reference matches the sources; bun docs/site/write.ts regenerates it", async () => {
  expect(await readGuide("api.md")).toBe(apiPage(entries));
});
