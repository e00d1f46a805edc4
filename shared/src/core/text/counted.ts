/** A count with its word in the singular or plural: `1 page`, `12 pages`, `2 entries`. */
export function counted(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`;
}
