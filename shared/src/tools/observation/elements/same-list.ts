import { type OutlineBranch, ownSays, saysWithout } from "./outline-tree.ts";

/**
 * So many rows that hold something, most of them as before, tell by themselves which list it is.
 */
const fewestTold = 3;

/**
 * The rows of a list before and now, and whether the model is told of all changes before it acts.
 */
type Lists = {
  readonly rows: readonly OutlineBranch[];
  readonly rowsNow: readonly OutlineBranch[];
  readonly told: boolean;
};

/**
 * Whether rows are those of one list: some were added or removed, but not both; or, of as many, at
 * least two thirds stand where they stood, so that those "in place" are the same. Around it, the
 * document has the same words, or only more or fewer of them, as where a message appears: other
 * words may make it the list of something else. Who is told of that needs no words around it.
 */
export function isSameList({ rows, rowsNow, told }: Lists): boolean | "in place" {
  const [parent, parentNow] = [rows[0]?.parent, rowsNow[0]?.parent];
  if (parent === undefined || parentNow === undefined) return false;
  const isLonger = isWithin(rows, rowsNow) || isWithin(rowsNow, rows);
  const isMostly = mostlyStands(rows, rowsNow);
  if (!isLonger && !isMostly) return false;
  const [then, now] = [new Set(rows), new Set(rowsNow)];
  const isKnown =
    (told && (isMostly || isMuch(rows.length, rowsNow.length)) && rows.every(({ children }) => children.length > 0)) ||
    saysWithout(parent, then) === saysWithout(parentNow, now) ||
    saysMore([parent, then], [parentNow, now]) ||
    saysMore([parentNow, now], [parent, then]);
  return isKnown && (isLonger || "in place");
}

/** Whether every row occurs among the others, at least as often. */
function isWithin(rows: readonly OutlineBranch[], others: readonly OutlineBranch[]): boolean {
  const left = new Map<number | bigint, number>();
  for (const { says } of others) left.set(says, (left.get(says) ?? 0) + 1);
  return rows.every(({ says }) => {
    const count = left.get(says) ?? 0;
    left.set(says, count - 1);
    return count > 0;
  });
}

function mostlyStands(rows: readonly OutlineBranch[], rowsNow: readonly OutlineBranch[]): boolean {
  const changed = rows.filter(({ says }, at) => rowsNow[at]?.says !== says).length;
  return rows.length === rowsNow.length && rows.length >= fewestTold && 3 * changed <= rows.length;
}

function isMuch(one: number, other: number): boolean {
  return Math.min(one, other) >= Math.max(fewestTold, (2 * Math.max(one, other)) / 3);
}

type Around = readonly [parent: OutlineBranch, rows: ReadonlySet<OutlineBranch>];

/** Whether a document has all the words of another around its list, each in its place, and more. */
function saysMore([few, rows]: Around, [many, others]: Around): boolean {
  const beside = ({ children }: OutlineBranch, left: ReadonlySet<OutlineBranch>) =>
    children.filter((child) => !left.has(child));
  if (ownSays(few.node) !== ownSays(many.node) || !isWithin(beside(few, rows), beside(many, others))) return false;
  if (few.parent === undefined || many.parent === undefined) return few.parent === many.parent;
  return saysMore([few.parent, new Set([few])], [many.parent, new Set([many])]);
}
