import type { ElementHandle } from "playwright";
import { AppError } from "../../../core/errors.ts";
import type { Browsing } from "../../../machine/browser/browser.ts";
import { markOf, nodeText } from "../aria-node.ts";
import type { ElementSelf } from "../in-page/start-looking.ts";
import { holdsValue } from "../item.ts";
import { numberedElement } from "../looking.ts";
import { followNow } from "./follow-redrawn.ts";
import { likelyNow } from "./likely-now.ts";
import type { SeenElement } from "./refs.ts";
import type { SnapshotState } from "./snapshot-state.ts";

/** An element of the active page that a ref names, and what it is. */
export type FoundElement = {
  readonly ref: string;
  readonly handle: ElementHandle;
  readonly seen: SeenElement;
  readonly self: ElementSelf;
  /** How results refer to it: `button "Save" [e12]`. */
  readonly label: string;
};

/**
 * The element a ref was given to: the same element of the same document, or the one that
 * unambiguously replaced it when it was redrawn and that still has the same name. Rejects with
 * `not_found` for a ref that was never given and with `conflict` when the element is gone or is now
 * another one; never returns a different element.
 */
export async function findElement(browsing: Browsing, looks: SnapshotState, ref: string): Promise<FoundElement> {
  const known = looks.refs.get(ref);
  if (known === undefined) {
    throw new AppError("not_found", looks.refs.isEmpty() ? closedSince(ref) : notGiven(ref));
  }
  if (known.tab !== browsing.active().id) {
    const message = `${ref} is in tab ${known.tab}, and tab ${browsing.active().id} is active. Use browser_switch_tab first, then look again.`;
    throw new AppError("conflict", message);
  }
  const { handle, self, seen } = (await stillThere(known)) ?? (await drawnAnew(looks, ref, known));
  const mark = self.node === undefined ? "" : markOf(self.node);
  if (seen.mark !== "" && mark !== seen.mark) throw stale(ref, seen, "it is something else now");
  return { ref, handle, seen, self, label: labelOf(ref, seen, self) };
}

function notGiven(ref: string): string {
  return `There is no element ${ref}. Refs such as e12 stand in brackets in the newest look at the page; look with browser_snapshot.`;
}

function closedSince(ref: string): string {
  return `There is no element ${ref}: no page was looked at in this browser. If you saw one before, the browser was closed since, with its tabs and log-ins: open the page again with browser_go_to_url, and look.`;
}

type Present = Pick<FoundElement, "handle" | "self" | "seen">;

/** The element, when it is still in its document, under the same name. */
async function stillThere(seen: SeenElement): Promise<Present | undefined> {
  const found = await numberedElement(seen.frame, seen.number).catch(() => undefined);
  return found === undefined || found.self.origin !== seen.origin ? undefined : { ...found, seen };
}

const outlineMs = 5_000;

/**
 * The element that replaced it when its part of the page was redrawn. Rejects when there is none,
 * or when it is ambiguous, and says which is probably the same.
 */
async function drawnAnew(looks: SnapshotState, ref: string, seen: SeenElement): Promise<Present> {
  // On a page that cannot be outlined now, nothing can be found.
  const before = looks.outlines.get(seen.frame);
  const outline = await followNow(looks, seen.frame, outlineMs).catch(() => undefined);
  const now = looks.refs.get(ref);
  const found = now === undefined || now.number === seen.number ? undefined : await stillThere(now);
  if (found !== undefined) return found;
  const isSame = outline !== undefined && before?.origin === seen.origin && outline.measure.origin === seen.origin;
  const likely = isSame ? likelyNow(before.nodes, outline.nodes, seen.number) : undefined;
  if (likely?.ref === undefined) throw stale(ref, seen, "it is gone");
  const { role, name } = likely;
  const successor = looks.refs.give({ ...seen, number: likely.ref, role, name, mark: markOf(likely) });
  throw new AppError(
    "conflict",
    `${named(ref, seen)} was drawn anew: the one like it is ${successor} now. Look again, and use that if it is what you want.`,
  );
}

function named(ref: string, { role, name }: SeenElement): string {
  return `${ref} (${name === "" ? role : `${role} "${name.slice(0, 80)}"`})`;
}

function stale(ref: string, seen: SeenElement, why: string): AppError {
  return new AppError("conflict", `${named(ref, seen)} is no longer valid: ${why}. Look again and use the new refs.`);
}

/** What a person would call an element: its name, its words, or the name of what it is in. */
function labelOf(ref: string, { role, name }: SeenElement, { tag, node, within = "" }: ElementSelf): string {
  const kind = role === "generic" || role === "text" ? tag : role;
  const words = name !== "" || node === undefined || holdsValue(role) ? name : nodeText(node);
  if (words !== "" && !role.includes(words)) return `${kind} "${words.slice(0, 80).toWellFormed()}" [${ref}]`;
  return within === "" || words !== "" ? `${kind} [${ref}]` : `${kind} in "${within}" [${ref}]`;
}
