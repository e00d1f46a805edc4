import { posix } from "node:path";
import { hasImports, importsOf } from "./imports.ts";

/** The tests that a change can reach, or why that cannot be told. */
export type AffectedTests =
  | { readonly tests: readonly string[]; readonly all: number }
  | { readonly tests: undefined; readonly why: string };

/** Files that no test imports and no test reads, by what they are. */
const withoutEffect = /(?:^|\/)(?:[^/]*\.(?:md|txt|rst)|LICENSE|\.gitignore|\.editorconfig)$/i;
const isTest =
  /(?:^|\/)(?:test_[^/]*\.py|[^/]*_test\.py|tests?\.py|[^/]*[._-](?:test|spec)\.[cm]?[jt]sx?|__tests__\/[^/]*\.[cm]?[jt]sx?)$/;
/** pytest loads it for every test below its folder. */
const isConftest = /(?:^|\/)conftest\.py$/;

/**
 * The test files that reach one of the changed files through imports. A changed file whose effect
 * imports do not show (settings, data, another language) leaves no choice but all tests.
 */
export function affectedTests(
  changed: readonly string[],
  texts: ReadonlyMap<string, string>,
  root: string,
): AffectedTests {
  const all = new Set([...texts.keys(), ...changed]);
  const effective = changed.filter((path) => !withoutEffect.test(path));
  const opaque = effective.find((path) => !hasImports(path));
  if (opaque !== undefined) return { tests: undefined, why: `imports do not tell what ${opaque} affects` };
  const importers = new Map<string, string[]>();
  for (const [path, text] of texts)
    for (const target of importsOf(path, text, all, root))
      importers.set(target, [...(importers.get(target) ?? []), path]);
  const reached = new Set(effective);
  for (const path of reached) {
    for (const importer of importers.get(path) ?? []) reached.add(importer);
    if (isConftest.test(path)) for (const other of testsBelow(posix.dirname(path), texts)) reached.add(other);
  }
  const tests = [...texts.keys()].filter((path) => isTest.test(path));
  return { tests: tests.filter((path) => reached.has(path)), all: tests.length };
}

function testsBelow(folder: string, texts: ReadonlyMap<string, string>): string[] {
  return [...texts.keys()].filter((path) => isTest.test(path) && (folder === "." || path.startsWith(`${folder}/`)));
}
