/** A count with its word in the singular or plural: `1 page`, `12 pages`, `2 entries`. */
export function counted(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`;
}

/** The first texts of a list, and how many more it has: `a, b and 3 more`. */
export function firstOf(texts: readonly string[], count: number): string {
  const more = texts.length > count ? ` and ${texts.length - count} more` : "";
  return `${texts.slice(0, count).join(", ")}${more}`;
}
