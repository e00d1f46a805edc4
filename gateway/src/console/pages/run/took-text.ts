import { durationText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { endOf, startOf, type TreeItem, waitingFor, waitsForPerson } from "./model/items.ts";
import type { RunPageStore } from "./run-store.ts";

/** How long an item took, or what it does until it has ended: it runs, or waits. */
export function tookText(item: TreeItem, { isReading }: Pick<RunPageStore, "isReading">): string {
  const end = endOf(item);
  if (end !== undefined) return durationText(end - startOf(item));
  const { run, states, loading } = words();
  if (isReading()) return loading;
  if (waitsForPerson(item)) return states["input-required"];
  return waitingFor(item) === undefined ? run.running : states.waiting;
}
