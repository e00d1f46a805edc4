import type { Frame, Page } from "playwright";
import { type AriaNode, markOf, nodeWith, outlinePage } from "./aria-node.ts";
import { type Document, readFrames } from "./documents.ts";
import { measurePage } from "./in-page/measure-page.ts";
import { type Branch, type OutlineTree, outlineTree, saysWithout } from "./outline-tree.ts";
import type { SnapshotState } from "./snapshot-state.ts";

type Outlined = Pick<Document, "frame" | "measure">;

/**
 * Has refs go over to what was drawn anew since the newest look, document by document, where it is
 * the same without a doubt. `frames` by Playwright's ref of their iframe. With `looked` the outline
 * is the newest look's from now on.
 */
export function followRedrawn(
  looks: SnapshotState,
  nodes: readonly (string | AriaNode)[],
  { main, frames, looked }: { main: Outlined; frames: ReadonlyMap<string, Outlined>; looked: boolean },
): void {
  const inFrames = [...frames].map(([ref, document]) => ({ document, nodes: nodeWith(nodes, ref)?.children ?? [] }));
  for (const { document, nodes: own } of [{ document: main, nodes }, ...inFrames]) {
    const { frame, measure } = document;
    const { origin } = measure;
    const before = looks.outlines.get(frame);
    const now = { origin, url: frame.url(), nodes: own };
    const same = before?.origin === origin && before.url === now.url ? sameElements(before.nodes, own) : [];
    for (const successor of same) looks.refs.follow({ frame, origin }, successor);
    if (looked || same.length > 0) looks.outlines.set(frame, now);
  }
}

/** The same right now, without a look. */
export async function followNow(page: Page, looks: SnapshotState, frame: Frame, timeoutMs: number): Promise<void> {
  const nodes = await outlinePage(page, timeoutMs);
  const measure = await page.evaluate(measurePage);
  const frames = frame === page.mainFrame() ? new Map<string, Document>() : await readFrames(page, nodes);
  followRedrawn(looks, nodes, { main: { frame: page.mainFrame(), measure }, frames, looked: false });
}

/** An element that took another's place: Playwright's refs of both, and what both are known by. */
export type Successor = { readonly former: string; readonly now: string; readonly mark: string };

/** Above so many elements that are gone a page was changed, not drawn anew. */
const mostGone = 2_000;

/**
 * The elements of a document that was drawn anew that are those of its former outline, without a
 * doubt: each is in a row (or the like) that says exactly what it said, once then and once now, at
 * the same place in it; rows like it were added or were taken away, but not both; and all else in
 * the document says what it said. Otherwise there is none: that a button is called the same does
 * not make it the same.
 */
function sameElements(
  before: readonly (string | AriaNode)[],
  now: readonly (string | AriaNode)[],
): readonly Successor[] {
  const refsNow = refsIn(now);
  const gone = [...refsIn(before)].filter((ref) => !refsNow.has(ref));
  if (gone.length === 0 || gone.length > mostGone) return [];
  const [old, fresh] = [outlineTree(before), outlineTree(now)];
  const agree = agreement();
  return gone.flatMap((former) => {
    const branch = old.byRef.get(former);
    const found = branch === undefined ? undefined : successor(branch, old, fresh, agree);
    const ref = found?.node.ref;
    if (found === undefined || ref === undefined || old.byRef.has(ref)) return [];
    return [{ former, now: ref, mark: markOf(found.node) }];
  });
}

function refsIn(nodes: readonly (string | AriaNode)[], refs = new Set<string>()): Set<string> {
  for (const node of nodes) {
    if (typeof node === "string") continue;
    if (node.ref !== undefined) refs.add(node.ref);
    if (node.role !== "iframe") refsIn(node.children ?? [], refs);
  }
  return refs;
}

type Agree = (then: Branch, now: Branch) => boolean;

function successor(branch: Branch, old: OutlineTree, fresh: OutlineTree, agree: Agree): Branch | undefined {
  const row = rowOf(branch, old);
  if (row === undefined) {
    // Nothing tells it from others but the whole page, which then has to say the same.
    const alone = old.bySays.get(branch.says)?.length === 1;
    return alone && old.root.says === fresh.root.says ? along(fresh.root, branch, old.root) : undefined;
  }
  const [now, ...others] = fresh.bySays.get(row.says) ?? [];
  if (now === undefined || others.length > 0 || !agree(row, now)) return undefined;
  return along(now, branch, row);
}

/**
 * The nearest of what an element is in, itself included, that has others of its kind beside it and
 * says what nothing else says.
 */
function rowOf(branch: Branch, { bySays }: OutlineTree): Branch | undefined {
  for (let at: Branch | undefined = branch; at?.parent !== undefined; at = at.parent)
    if (bySays.get(at.says)?.length === 1 && kinOf(at).length > 1) return at;
  return undefined;
}

/** Those beside a branch that are built like it, itself included. */
function kinOf({ parent, shape }: Branch): readonly Branch[] {
  return (parent?.children ?? []).filter((child) => child.shape === shape);
}

/** Whether all else says the same around two rows, but for rows like them that came or went. */
function agreement(): Agree {
  const known = new Map<Branch, Map<string, boolean>>();
  return (then, now) => {
    if (then.parent === undefined || now.parent === undefined || then.shape !== now.shape) return false;
    const [rows, rowsNow] = [kinOf(then), kinOf(now)];
    const [first, firstNow] = [rows[0], rowsNow[0]];
    if (first === undefined || firstNow === undefined) return false;
    const answers = known.get(first) ?? new Map<string, boolean>();
    known.set(first, answers);
    const key = `${firstNow.says} ${firstNow.shape} ${rowsNow.length}`;
    const answer =
      answers.get(key) ??
      ((isWithin(rows, rowsNow) || isWithin(rowsNow, rows)) &&
        saysWithout(then.parent, new Set(rows)) === saysWithout(now.parent, new Set(rowsNow)));
    answers.set(key, answer);
    return answer;
  };
}

/** Whether each of some rows is among the others, as often. */
function isWithin(rows: readonly Branch[], others: readonly Branch[]): boolean {
  const left = new Map<number | bigint, number>();
  for (const { says } of others) left.set(says, (left.get(says) ?? 0) + 1);
  return rows.every(({ says }) => {
    const count = left.get(says) ?? 0;
    left.set(says, count - 1);
    return count > 0;
  });
}

/** The branch at the place below a top that another has below its own. */
function along(top: Branch, branch: Branch, from: Branch): Branch | undefined {
  if (branch === from) return top;
  const parent = branch.parent;
  if (parent === undefined) return undefined;
  return along(top, parent, from)?.children[parent.children.indexOf(branch)];
}
