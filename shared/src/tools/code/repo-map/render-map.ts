import { estimateTokenCount } from "tokenx";
import type { MappedFile } from "./map-protocol.ts";

const indent = "  ";
/** Room for the line that says what was left out. */
const reserve = 40;

/**
 * The map as text of about so many tokens: the most important files with their definitions, as far
 * as they fit, then how many are left out.
 */
export function renderMap(files: readonly MappedFile[], tokens: number): string {
  const ranked = files.filter(({ symbols }) => symbols.length > 0).sort((a, b) => b.score - a.score);
  const blocks: string[] = [];
  let left = tokens - reserve;
  for (const file of ranked) {
    const block = [blockOf(file, Number.POSITIVE_INFINITY), blockOf(file, 0)].find(
      (each) => estimateTokenCount(each) <= left,
    );
    if (block === undefined) break;
    blocks.push(block);
    left -= estimateTokenCount(block) + 1;
  }
  const unshown = ranked.slice(blocks.length);
  const names = unshown.slice(0, 5).map(({ path }) => path);
  if (unshown.length > 0) {
    const more = unshown.length > names.length ? " …" : "";
    blocks.push(
      `[${unshown.length} more files with definitions: ${names.join(", ")}${more}; give a folder as path or more tokens]`,
    );
  }
  const bare = files.filter(({ symbols }) => symbols.length === 0).map(({ path }) => path);
  if (blocks.length > 0 && bare.length > 0) blocks.push(`[without definitions: ${fewNames(bare)}]`);
  return blocks.join("\n");
}

const mostNamed = 8;

/** Files such as tests and settings, which one has to know of all the same. */
function fewNames(paths: readonly string[]): string {
  const named = paths.slice(0, mostNamed).join(", ");
  return paths.length > mostNamed ? `${named} and ${paths.length - mostNamed} more` : named;
}

/** Definitions down to a depth, and how many are below it. */
function blockOf({ path, symbols }: MappedFile, deepest: number): string {
  const shown = symbols.filter(({ depth }) => depth <= deepest);
  const lines = shown.map(({ line, depth, text }) => `${String(line).padStart(5)} ${indent.repeat(depth)}${text}`);
  const hidden = symbols.length - shown.length;
  return [path, ...lines, ...(hidden > 0 ? [`      [${hidden} inside these]`] : [])].join("\n");
}
