import { type OutlineBranch, ownSays } from "./outline-tree.ts";

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
  const saysMore = () => {
    const [around, aroundNow] = [wordsAround(parent, then), wordsAround(parentNow, now)];
    return hasAll(aroundNow, around) || hasAll(around, aroundNow);
  };
  const isKnown =
    (told && (isMostly || isMuch(rows.length, rowsNow.length)) && rows.every(({ children }) => children.length > 0)) ||
    saysMore();
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

/** Whether one list of words has all of another, and as often. */
function hasAll(many: ReadonlyMap<number | bigint, number>, few: ReadonlyMap<number | bigint, number>): boolean {
  return [...few].every(([says, count]) => (many.get(says) ?? 0) >= count);
}

/**
 * How often everything is said in a document, but for the rows; boxes that say nothing are none.
 */
function wordsAround(parent: OutlineBranch, rows: ReadonlySet<OutlineBranch>): ReadonlyMap<number | bigint, number> {
  let root = parent;
  while (root.parent !== undefined) root = root.parent;
  const said = new Map<number | bigint, number>();
  const visit = (branch: OutlineBranch) => {
    if (rows.has(branch)) return;
    const { role, name, text, children = [] } = branch.node;
    const isBox = role === "generic" && name === "" && text === undefined;
    if (!isBox || children.some((child) => typeof child === "string")) {
      const says = ownSays(branch.node);
      said.set(says, (said.get(says) ?? 0) + 1);
    }
    for (const child of branch.children) visit(child);
  };
  visit(root);
  return said;
}
