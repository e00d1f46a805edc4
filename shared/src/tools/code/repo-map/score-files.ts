import { basename } from "node:path";
import type { MappedSymbol } from "./map-protocol.ts";

const entryPoint = /^(?:__main__|app|cli|index|lib|main|mod|server)\.\w+$/i;
const forTests =
  /(?:^|\/)(?:tests?|spec|__tests__|fixtures?|examples?)\/|(?:^|\/)test_|[._-](?:test|spec)\.\w+$|_test\.\w+$/i;
const shortest = 3;
const exporting = /^export /m;

type ReadFile = { readonly path: string; readonly text: string; readonly symbols: readonly MappedSymbol[] };

/**
 * How important each file is, in the given order: one point for each other file that names
 * something it defines, less when several files define the name or it is an everyday word; more for
 * entry points, less for tests.
 */
export function scoreFiles(files: readonly ReadFile[]): number[] {
  const definedIn = new Map<string, Set<number>>();
  for (const [index, file] of files.entries())
    for (const { name } of visibleOutside(file))
      if (name.length >= shortest) definedIn.set(name, (definedIn.get(name) ?? new Set()).add(index));
  const scores = files.map(() => 0);
  for (const [index, { text }] of files.entries())
    for (const word of new Set(text.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu)))
      for (const definer of definedIn.get(word) ?? [])
        if (definer !== index)
          scores[definer] = (scores[definer] ?? 0) + weightOf(word) / (definedIn.get(word)?.size ?? 1);
  return files.map(({ path, symbols }, index) => {
    const used = scores[index] ?? 0;
    const entry = entryPoint.test(basename(path)) && !path.includes("/node_modules/") ? 5 : 0;
    return (used + entry + Math.min(symbols.length, 20) / 20) * (forTests.test(path) ? 0.1 : 1);
  });
}

/** A file's exported definitions; all of them when it does not declare exports. */
function visibleOutside({ text, symbols }: ReadFile): readonly MappedSymbol[] {
  return exporting.test(text) ? symbols.filter((symbol) => exporting.test(symbol.text)) : symbols;
}

/** A name of several words is specific; a single plain word may be any variable. */
function weightOf(name: string): number {
  return /[a-z][A-Z]|\w_\w|^[A-Z]/.test(name) ? 1 : 0.2;
}
