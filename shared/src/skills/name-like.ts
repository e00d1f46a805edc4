/**
 * Which of these names a reader could take for `name`: they differ by one letter, or only look
 * alike.
 */
export function nameLike(name: string, others: readonly string[]): string | undefined {
  const shape = shapeOf(name);
  return others.find((other) => shapeOf(other) === shape || isOneApart(name, other));
}

/** The name as it looks at a glance. */
function shapeOf(name: string): string {
  return name
    .replaceAll("-", "")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")
    .replaceAll(/[1i]/g, "l")
    .replaceAll("0", "o")
    .replaceAll("5", "s");
}

/**
 * Whether one letter was changed, added or left out, in names long enough for that to be unseen.
 */
function isOneApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 6 || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  return short.slice(long.length === short.length ? at + 1 : at) === long.slice(at + 1);
}
