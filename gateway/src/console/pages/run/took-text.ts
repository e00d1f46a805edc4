import { durationText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { endOf, startOf, type TreeItem, waitingFor, waitsForPerson } from "./model/items.ts";

/** How long an item took, or what it does until it has ended: it runs, or waits. */
export function tookText(item: TreeItem): string {
  const end = endOf(item);
  if (end !== undefined) return durationText(end - startOf(item));
  const { run, states } = words();
  if (waitsForPerson(item)) return states["input-required"];
  return waitingFor(item) === undefined ? run.running : states.waiting;
}
