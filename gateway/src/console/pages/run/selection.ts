import type { TreeEvent } from "../../api/tree-events.ts";
import { address, place, setQuery } from "../../state/router.ts";
import type { TreeItem } from "./model/items.ts";
import type { RunTree } from "./model/run-tree.ts";

/** What is selected: a row, or an event that no row stands for. */
export type Selected = { readonly item?: TreeItem; readonly event?: TreeEvent };

/** The event that stands for an item in the address. */
function eventOf(item: TreeItem): TreeEvent | undefined {
  return item.kind === "call" ? item.started : item.events[0];
}

/** Selects an item, and says so in the address. */
export function select(tree: RunTree, item: TreeItem | undefined): void {
  const event = item && eventOf(item);
  // An agent that shows nothing of its run has no event that could stand for it.
  if (item !== undefined && event === undefined) setQuery({ event: undefined, run: item.key, view: undefined });
  else selectEvent(tree, event);
}

/** Selects an event, and says so in the address. */
export function selectEvent(tree: RunTree, event: TreeEvent | undefined): void {
  const ofRoot = event === undefined || event.runId === tree.root.runId;
  setQuery({ event: event?.seq, run: ofRoot ? undefined : event?.runId, view: undefined });
}

/** What the address asks for; nothing while its event is not there. */
export function selected(tree: RunTree): Selected {
  const { query } = place.value;
  const seq = Number(query.get("event") ?? Number.NaN);
  const run = tree.runs.get(query.get("run") ?? tree.root.runId);
  if (run === undefined) return {};
  if (Number.isNaN(seq)) return query.has("run") ? { item: run } : {};
  const event = run.events[seq - (run.events[0]?.seq ?? 1)];
  if (event === undefined) return {};
  if (seq === 1) return { item: run, event };
  const { callId } = event.event as { readonly callId?: string };
  const call = typeof callId === "string" ? tree.call(run.runId, callId) : undefined;
  return call === undefined ? { event } : { item: call, event };
}

/** The address of an event of a run's tree, to be sent to others. */
export function linkOf(tree: RunTree, { runId, seq }: TreeEvent): string {
  const query = { event: seq, run: runId === tree.root.runId ? undefined : runId };
  // A reader who came by a link passes the link on.
  const { parts } = place.value;
  return new URL(address(parts[0] === "shared" ? parts : ["runs", tree.root.runId], query), location.href).href;
}
