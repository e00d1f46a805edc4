import { type CallItem, failureOf, isStopped, type TreeItem } from "./items.ts";
import { argumentsOf, callsOf } from "./rows.ts";

const edits = /"command"\s*:\s*"(?:create|str_replace|insert)"/;
const path = /"path"\s*:\s*"((?:[^"\\]|\\.)+)"/;
const patched = /\*\*\* (?:Update|Add|Delete) File: ([^\\"\n]+)/g;

/**
 * The files that calls below an item changed by themselves, each with the newest call that did.
 * What programs changed is not among them. The arguments are read as text, since long ones come
 * shortened and are no JSON then.
 */
export function changedFiles(item: TreeItem): ReadonlyMap<string, CallItem> {
  const found = new Map<string, CallItem>();
  for (const call of callsOf(item)) {
    if (call.ended === undefined || isStopped(call) || failureOf(call) !== undefined) continue;
    const text = argumentsOf(call);
    const edited = edits.test(text) ? path.exec(text)?.[1] : undefined;
    const names = edited === undefined ? [...text.matchAll(patched)].map(([, name = ""]) => name.trim()) : [edited];
    for (const name of names) found.set(name, call);
  }
  return found;
}
