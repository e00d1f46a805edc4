/**
 * The line (from 1) where a TOML text sets the key at this path, or the header of its table; undefined when it is written in a way
 * a line-by-line look does not see (an inline table, a multi-line text), for the parser reports no positions.
 */
export function lineOf(source: string, path: readonly string[]): number | undefined {
  const wanted = path.join(".");
  let table: string[] = [];
  let best: { line: number; length: number } | undefined;
  for (const [index, line] of source.split("\n").entries()) {
    const header = /^\s*\[\[?([^\]]+)\]\]?\s*(#.*)?$/.exec(line)?.[1];
    if (header !== undefined) table = splitKey(header);
    const key = header === undefined ? /^\s*([^=#[]+?)\s*=/.exec(line)?.[1] : undefined;
    const here = (key === undefined ? table : [...table, ...splitKey(key)]).join(".");
    if (header === undefined && key === undefined) continue;
    if (here === wanted) return index + 1;
    if (wanted.startsWith(`${here}.`) && here.length > (best?.length ?? 0))
      best = { line: index + 1, length: here.length };
  }
  return best?.line;
}

/** The parts of a dotted TOML key, without their quotes. */
function splitKey(key: string): string[] {
  return [...key.matchAll(/"([^"]*)"|'([^']*)'|([^.\s"']+)/g)].map((part) => part[1] ?? part[2] ?? part[3] ?? "");
}
