import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { codesIn, readGuide, rowsOf } from "./markdown.ts";
import { openManusNames } from "./openmanus-names.ts";

const root = resolve(import.meta.dir, "../..");
const guide = await readGuide("openmanus.md");
const rows = rowsOf(guide);
const proofs = rows.flatMap(([, , shown = ""]) =>
  [...shown.matchAll(/`([^`]+)` "([^"]+)"/g)].map(([, path = "", name = ""]) => ({ path, name })),
);

/** The text of a section, up to the next heading of its depth or above. */
function sectionOf(heading: string): string {
  return new RegExp(`^(##+) ${heading}$\n([\\s\\S]*?)(?=^##|$(?![\\s\\S]))`, "m").exec(guide)?.[2] ?? "";
}

test("the tables these tests walk are not empty", () => {
  expect(rows.length).toBeGreaterThan(220);
  expect(proofs.length).toBeGreaterThan(220);
  expect(Object.keys(openManusNames).length).toBeGreaterThan(15);
});

test("every row has three cells, and a test or a reason why there is none", () => {
  const bad = rows.filter(
    ([what = "", here = "", shown = "", ...more]) =>
      more.length > 0 ||
      what === "" ||
      here === "" ||
      (shown === "–" ? !/^not (taken|yet): ./.test(here) : !/^(`[^`]+` "[^"]+"(; |$))+$/.test(shown)),
  );
  expect(bad).toEqual([]);
});

test("every named test exists", async () => {
  const texts = new Map<string, string>();
  for (const path of new Set(proofs.map((proof) => proof.path))) {
    const file = Bun.file(resolve(root, path));
    texts.set(path, (await file.exists()) ? await file.text() : "");
  }
  const quoted = (name: string) => [`"${name}"`, `\`${name}\``];
  const missing = proofs.filter(({ path, name }) => !quoted(name).some((text) => texts.get(path)?.includes(text)));
  expect(missing).toEqual([]);
});

test("every named place exists", () => {
  const places = rows
    .flatMap(([, here]) => codesIn(here))
    .filter((code) => /^(agents|flows|gateway|shared|test)\//.test(code));
  expect(places.length).toBeGreaterThan(5);
  expect(places.filter((place) => !existsSync(resolve(root, place)))).toEqual([]);
});

test("every tool, action and parameter of OpenManus is in its section", () => {
  const missing = Object.entries(openManusNames).flatMap(([heading, names]) => {
    const told = rowsOf(sectionOf(heading)).flatMap(([what]) => codesIn(what));
    return names.filter((name) => !told.includes(name)).map((name) => `${heading}: ${name}`);
  });
  expect(missing).toEqual([]);
});
