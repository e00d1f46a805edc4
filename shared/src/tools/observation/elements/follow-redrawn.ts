import type { Frame } from "playwright";
import { type AriaNode, markOf } from "../aria-node.ts";
import type { DocumentLook } from "../in-page/start-looking.ts";
import { lookIn } from "../looking.ts";
import { type OutlineBranch, type OutlineTree, outlineTree } from "./outline-tree.ts";
import { isSameList } from "./same-list.ts";
import type { SeenOutline, SnapshotState } from "./snapshot-state.ts";

/**
 * Moves refs to the elements of a document that were redrawn since the newest look, where they are
 * unambiguously the same. With `looked`, the outline becomes the newest look's; with `told`, the
 * model reads what has changed before it acts, so that most of a list is enough to know it by.
 */
export function followRedrawn(
  looks: SnapshotState,
  { frame, nodes, measure: { origin } }: Pick<DocumentLook, "nodes" | "measure"> & { readonly frame: Frame },
  { looked, told = false }: { readonly looked: boolean; readonly told?: boolean },
): void {
  const now = { origin, url: frame.url(), nodes };
  const since = (before: SeenOutline | undefined) =>
    before?.origin === origin && before.url === now.url ? sameElements(before.nodes, nodes, told) : [];
  const [newest, seen] = [looks.outlines.get(frame), looks.toldOutlines.get(frame)];
  // One message may take the place of another between acts, where what the model saw had neither.
  const same = [...since(newest), ...(seen === newest ? [] : since(seen))];
  for (const successor of same) looks.refs.follow({ frame, origin }, successor);
  if (looked || same.length > 0) looks.outlines.set(frame, now);
  if (looked) looks.toldOutlines.set(frame, now);
}

/** Does the same immediately, without a look; returns the outline that it saw. */
export async function followNow(looks: SnapshotState, frame: Frame, timeoutMs: number): Promise<DocumentLook> {
  const now = await lookIn(frame, { maxDrawn: 0 }, timeoutMs);
  followRedrawn(looks, { ...now, frame }, { looked: false });
  return now;
}

/** An element that replaced another: the numbers of both, and the role and mark that both have. */
export type Successor = {
  readonly former: number;
  readonly now: number;
  readonly role: string;
  readonly mark: string;
};

/** If more elements than this are gone, the page has changed rather than been redrawn. */
const maxGone = 2_000;

/**
 * The elements of a redrawn document that are unambiguously those of its former outline. Each is in
 * a row (or similar) that has the same words as before, unique before and now, at the same place in
 * it, in what is still the same list (`isSameList`). Otherwise there are none, as having the same
 * name does not make a button the same; only a link that is the only one of its name to its page is
 * the same whatever stands around it.
 */
function sameElements(
  before: readonly (string | AriaNode)[],
  now: readonly (string | AriaNode)[],
  told: boolean,
): readonly Successor[] {
  const refsNow = refsIn(now);
  const gone = [...refsIn(before)].filter((ref) => !refsNow.has(ref));
  if (gone.length === 0 || gone.length > maxGone) return [];
  const [old, fresh] = [outlineTree(before), outlineTree(now)];
  const agree = agreement(told);
  const [linksBefore, linksNow] = [soleLinks(old), soleLinks(fresh)];
  return gone.flatMap((former) => {
    const branch = old.byRef.get(former);
    if (branch === undefined) return [];
    const key = linkKey(branch.node);
    const isSole = key !== undefined && linksBefore.get(key) === branch;
    const found = successor(branch, old, fresh, agree) ?? (isSole ? linksNow.get(key) : undefined);
    const ref = found?.node.ref;
    if (found === undefined || ref === undefined || old.byRef.has(ref)) return [];
    return [{ former, now: ref, role: found.node.role, mark: markOf(found.node) }];
  });
}

function refsIn(nodes: readonly (string | AriaNode)[], refs = new Set<number>()): Set<number> {
  for (const node of nodes) {
    if (typeof node === "string") continue;
    if (node.ref !== undefined) refs.add(node.ref);
    refsIn(node.children ?? [], refs);
  }
  return refs;
}

/** What a link that leads to another page says and where it leads. */
function linkKey({ role, name, url }: AriaNode): string | undefined {
  return role !== "link" || name === "" || url === undefined || /^(?:#|javascript:)/i.test(url)
    ? undefined
    : `${url} ${name}`;
}

/** The links that no other link of the document is like. */
function soleLinks({ byRef }: OutlineTree): ReadonlyMap<string, OutlineBranch | undefined> {
  const links = new Map<string, OutlineBranch | undefined>();
  for (const branch of byRef.values()) {
    const key = linkKey(branch.node);
    if (key !== undefined) links.set(key, links.has(key) ? undefined : branch);
  }
  return links;
}

type Agree = (then: OutlineBranch, now: OutlineBranch) => boolean;

function successor(
  branch: OutlineBranch,
  old: OutlineTree,
  fresh: OutlineTree,
  agree: Agree,
): OutlineBranch | undefined {
  const row = rowOf(branch, old);
  if (row === undefined) {
    // Only the whole page distinguishes it from others, so the whole page has to have the same
    // words.
    const alone = old.bySays.get(branch.says)?.length === 1;
    return alone && old.root.says === fresh.root.says ? along(fresh.root, branch, old.root) : undefined;
  }
  const [now, ...others] = fresh.bySays.get(row.says) ?? [];
  if (now === undefined || others.length > 0 || !agree(row, now)) return undefined;
  return along(now, branch, row);
}

/**
 * The nearest ancestor, or the element itself, that has others of its kind beside it and has words
 * that nothing else has.
 */
function rowOf(branch: OutlineBranch, { bySays }: OutlineTree): OutlineBranch | undefined {
  for (let at: OutlineBranch | undefined = branch; at?.parent !== undefined; at = at.parent)
    if (bySays.get(at.says)?.length === 1 && kinOf(at).length > 1) return at;
  return undefined;
}

/** The siblings of a branch with the same structure, itself included. */
function kinOf({ parent, shape }: OutlineBranch): readonly OutlineBranch[] {
  return (parent?.children ?? []).filter((child) => child.shape === shape);
}

/** Whether two rows are of the same list, which is decided once for all its rows. */
function agreement(told: boolean): Agree {
  const known = new Map<OutlineBranch, Map<OutlineBranch, ReturnType<typeof isSameList>>>();
  return (then, now) => {
    if (then.parent === undefined || now.parent === undefined || then.shape !== now.shape) return false;
    const lists = { rows: kinOf(then), rowsNow: kinOf(now), told };
    const [first, firstNow] = [lists.rows[0], lists.rowsNow[0]];
    if (first === undefined || firstNow === undefined) return false;
    const answers = known.get(first) ?? new Map();
    known.set(first, answers);
    const answer = answers.get(firstNow) ?? isSameList(lists);
    answers.set(firstNow, answer);
    return answer === true || (answer === "in place" && lists.rows.indexOf(then) === lists.rowsNow.indexOf(now));
  };
}

/** The branch at the same place below a top that another branch has below its own top. */
function along(top: OutlineBranch, branch: OutlineBranch, from: OutlineBranch): OutlineBranch | undefined {
  if (branch === from) return top;
  const parent = branch.parent;
  if (parent === undefined) return undefined;
  return along(top, parent, from)?.children[parent.children.indexOf(branch)];
}
