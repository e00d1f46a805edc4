import { holdsValue, type Item } from "./item.ts";

/**
 * The items without the words beside a field that only name it, also where a link stands among them
 * or they can be clicked: the link stays.
 */
export function withoutLabels(items: readonly Item[]): Item[] {
  const labels = new Set<Item>();
  for (const [at, { role }] of items.entries())
    if (holdsValue(role)) for (const step of [-1, 1]) for (const part of labelOf(items, at, step)) labels.add(part);
  return items.flatMap((item) => {
    if (!labels.has(item) || !/^(?:text|clickable)$/.test(item.role)) return [item];
    return item.children.filter(({ acts }) => acts);
  });
}

/** What stands before or after a field and has, together, the words of its name. */
function labelOf(items: readonly Item[], at: number, step: number): readonly Item[] {
  const wanted = squeezed(items[at]?.name ?? "");
  const parts: Item[] = [];
  let found = "";
  for (let next = items[at + step]; next !== undefined && wanted !== ""; next = items[at + step * (parts.length + 1)]) {
    if (holdsValue(next.role)) return [];
    found = step > 0 ? found + wordsOf(next) : wordsOf(next) + found;
    if (step > 0 ? !wanted.startsWith(found) : !wanted.endsWith(found)) return [];
    parts.push(next);
    if (found === wanted) return parts;
  }
  return [];
}

function wordsOf({ name, text, children }: Item): string {
  return squeezed(name) + squeezed(text) + children.map(wordsOf).join("");
}

function squeezed(words: string): string {
  return words.replaceAll(/\s+/g, "");
}
