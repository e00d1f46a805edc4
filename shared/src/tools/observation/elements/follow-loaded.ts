import type { Frame } from "playwright";
import { type AriaNode, markOf } from "../aria-node.ts";
import type { DocumentLook } from "../in-page/start-looking.ts";
import type { Successor } from "./follow-redrawn.ts";
import { type OutlineBranch, type OutlineTree, outlineTree } from "./outline-tree.ts";
import type { SnapshotState } from "./snapshot-state.ts";

/**
 * Moves refs to the elements of a document that was loaded anew, such as a form with its errors or
 * a list after an order; returns which of the frame's documents it replaced. Undefined when there
 * was none, or one at another address. Only for looks whose changes the model is told before it
 * acts: a `Delete` that is still the only one may delete something else now.
 */
export function followLoaded(
  looks: SnapshotState,
  { frame, nodes, measure: { origin } }: Pick<DocumentLook, "nodes" | "measure"> & { readonly frame: Frame },
): number | undefined {
  const before = looks.outlines.get(frame);
  if (before === undefined || before.origin === origin || !isSamePath(before.url, frame.url())) return undefined;
  for (const one of sameElements(before.nodes, nodes))
    looks.refs.follow({ frame, origin: before.origin, now: origin }, one);
  return before.origin;
}

function isSamePath(before: string, now: string): boolean {
  const [then, next] = [URL.parse(before), URL.parse(now)];
  return then !== null && next !== null && then.origin === next.origin && then.pathname === next.pathname;
}

const rowLike = /^(?:row|listitem|treeitem|option|article)$/;

/**
 * The elements of a document that stand for those of another: what says the same as nothing else
 * does in either, with all in it. What is in a row stands for what was in that row only.
 */
function sameElements(
  before: readonly (string | AriaNode)[],
  now: readonly (string | AriaNode)[],
): readonly Successor[] {
  const [old, fresh] = [outlineTree(before), outlineTree(now)];
  const found: Successor[] = [];
  const follow = (then: OutlineBranch, next: OutlineBranch) => {
    const [former, ref] = [then.node.ref, next.node.ref];
    if (former !== undefined && ref !== undefined)
      found.push({ former, now: ref, role: next.node.role, mark: markOf(next.node) });
    for (const [at, child] of next.children.entries()) follow(then.children[at] ?? child, child);
  };
  const visit = (then: OutlineBranch) => {
    const next = onlyOne(old, then) === then ? onlyOne(fresh, then) : undefined;
    if (next !== undefined) follow(then, next);
    else if (!rowLike.test(then.node.role)) for (const child of then.children) visit(child);
  };
  visit(old.root);
  return found;
}

function onlyOne({ bySays, root }: OutlineTree, { says }: OutlineBranch): OutlineBranch | undefined {
  if (root.says === says) return root;
  const [one, ...others] = bySays.get(says) ?? [];
  return others.length === 0 ? one : undefined;
}
