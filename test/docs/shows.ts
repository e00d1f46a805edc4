/**
 * Whether a shortened output matches the real one: equal except for white space, with anything, or
 * nothing, in place of each `…`.
 */
export function shows(shortened: string, real: string): boolean {
  const plain = (text: string) => text.replaceAll(/\s+/g, "");
  const parts = plain(shortened)
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*?")}$`).test(plain(real));
}
