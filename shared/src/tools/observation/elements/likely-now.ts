import { type AriaNode, markOf } from "../aria-node.ts";
import { type OutlineBranch, outlineTree } from "./outline-tree.ts";

type Nodes = readonly (string | AriaNode)[];

/**
 * The element that probably took the place of one that is gone: alike, and in the only row with a
 * name (or another text) that only its row had, or else the only one of its kind. For a hint: what
 * is certain is followed by `followRedrawn`.
 */
export function likelyNow(before: Nodes, now: Nodes, number: number): AriaNode | undefined {
  const then = outlineTree(before).byRef;
  const branch = then.get(number);
  if (branch === undefined) return undefined;
  const old = [...then.values()].filter((one) => isAlike(one.node, branch.node));
  const fresh = [...outlineTree(now).byRef.values()].filter((one) => isAlike(one.node, branch.node));
  if (old.length === 1 && fresh.length === 1) return fresh[0]?.node;
  const row = rowOf(branch);
  if (row === undefined) return undefined;
  const own = textsOf(row.node);
  const others = new Set(rowsBeside(row).flatMap(({ node }) => [...textsOf(node)]));
  const rows = fresh.flatMap((one) => {
    const place = rowOf(one);
    return place === undefined ? [] : [{ one, texts: textsOf(place.node) }];
  });
  for (const text of own) {
    if (others.has(text)) continue;
    const [found, ...more] = rows.filter(({ texts }) => texts.has(text));
    if (found !== undefined) return more.length === 0 ? found.one.node : undefined;
  }
  return undefined;
}

function isAlike(one: AriaNode, other: AriaNode): boolean {
  return one.role === other.role && markOf(one) === markOf(other);
}

/** The nearest ancestor with others of its role beside it that say other things. */
function rowOf(branch: OutlineBranch): OutlineBranch | undefined {
  for (let at = branch.parent; at?.parent !== undefined; at = at.parent) if (rowsBeside(at).length > 0) return at;
  return undefined;
}

function rowsBeside(row: OutlineBranch): readonly OutlineBranch[] {
  const all = row.parent?.children ?? [];
  return all.filter((one) => one !== row && one.node.role === row.node.role && one.children.length > 0);
}

/** The texts and names in a row, in order. */
function textsOf(node: AriaNode, texts = new Set<string>()): Set<string> {
  for (const text of [node.name, node.text ?? ""]) if (text.trim() !== "") texts.add(text.trim());
  for (const child of node.children ?? [])
    if (typeof child !== "string") textsOf(child, texts);
    else if (child.trim() !== "") texts.add(child.trim());
  return texts;
}
