import { AppError } from "../../../core/errors.ts";
import type { RemoteRef } from "./upload-pack.ts";

/** What is checked out: an object, by the full name of its branch or tag where it has one. */
export type ChosenRef = { readonly oid: string; readonly name?: string };

/** The ref a name means, or HEAD without one: a branch before a tag before a commit. Throws `not_found`. */
export function chooseRef(refs: readonly RemoteRef[], wanted: string | undefined): ChosenRef {
  if (wanted === undefined) {
    const head = refs.find(({ name }) => name === "HEAD");
    if (head === undefined) throw new AppError("not_found", "There is no commit in that repository.");
    return { oid: head.oid, ...(head.branch !== undefined && { name: head.branch }) };
  }
  for (const name of [`refs/heads/${wanted}`, `refs/tags/${wanted}`]) {
    const ref = refs.find((each) => each.name === name);
    if (ref !== undefined) return { oid: ref.oid, name };
  }
  if (/^[0-9a-f]{40}$/.test(wanted)) return { oid: wanted };
  throw new AppError("not_found", `There is no branch or tag ${wanted} there. A commit is named by all its 40 digits.`);
}
