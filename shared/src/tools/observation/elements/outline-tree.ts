import type { AriaNode } from "../aria-node.ts";
import { holdsValue } from "../item.ts";

/**
 * A node of an outline among the others, with hashes of its words and of its structure: equal
 * hashes mean equal content.
 */
export type OutlineBranch = {
  readonly node: AriaNode;
  readonly parent: OutlineBranch | undefined;
  readonly children: readonly OutlineBranch[];
  /**
   * A hash of all its words and of where its links lead. What is written in fields, and what is
   * checked or focused, does not count.
   */
  readonly says: number | bigint;
  /** A hash of its roles only. */
  readonly shape: number | bigint;
};

/** An outline that is compared with another of the same document. */
export type OutlineTree = {
  readonly root: OutlineBranch;
  /** By the element's number. */
  readonly byRef: ReadonlyMap<number, OutlineBranch>;
  readonly bySays: ReadonlyMap<number | bigint, readonly OutlineBranch[]>;
};

/** The tree of one document's nodes. */
export function outlineTree(nodes: readonly (string | AriaNode)[]): OutlineTree {
  const byRef = new Map<number, OutlineBranch>();
  const bySays = new Map<number | bigint, OutlineBranch[]>();
  const grow = (node: AriaNode, parent: OutlineBranch | undefined): OutlineBranch => {
    const children: OutlineBranch[] = [];
    const branch = { node, parent, children, says: 0 as number | bigint, shape: 0 as number | bigint };
    const inside = node.children ?? [];
    for (const child of inside) if (typeof child !== "string") children.push(grow(child, branch));
    branch.says = saysOf(node, children);
    const text = node.text !== undefined || inside.some((child) => typeof child === "string");
    branch.shape = Bun.hash(`${node.role} ${text} ${children.map(({ shape }) => shape).join()}`);
    if (node.ref !== undefined) byRef.set(node.ref, branch);
    const same = bySays.get(branch.says);
    if (same === undefined) bySays.set(branch.says, [branch]);
    else same.push(branch);
    return branch;
  };
  return { root: grow({ role: "document", name: "", box: [0, 0, 0, 0], children: nodes }, undefined), byRef, bySays };
}

/** A hash of a node's words, given its children's hashes. */
function saysOf(node: AriaNode, children: readonly { readonly says: number | bigint }[]): number | bigint {
  const { role, name, url } = node;
  const texts = (node.children ?? []).filter((child) => typeof child === "string");
  const own = holdsValue(role) ? [] : [node.text, ...texts];
  return Bun.hash(JSON.stringify([role, name, url, own, children.map(({ says }) => String(says))]));
}

/** A hash of a node's own words, without what is in it. */
export function ownSays(node: AriaNode): number | bigint {
  return saysOf(node, []);
}
