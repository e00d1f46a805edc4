import type { TreeEvent } from "../console/api/tree-events.ts";
import { RunTree } from "../console/pages/run/model/run-tree.ts";

/** The time of the event at this place. */
export const second = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();

/** Fills a tree; an event is of the run it names and happens at its place's second. */
export function treeOf(...events: readonly (readonly [string, Record<string, unknown> & { type: string }])[]): RunTree {
  const tree = new RunTree("root", "planning");
  const seqs = new Map<string, number>();
  for (const [at, [runId, event]] of events.entries()) {
    const seq = (seqs.get(runId) ?? 0) + 1;
    seqs.set(runId, seq);
    if (event.type === "asked") {
      const { askId, id, name, place = "here" } = event as unknown as Parameters<RunTree["asked"]>[0];
      tree.asked({ runId, askId, id, name, place, followed: true });
    } else tree.add({ runId, seq, at: second(at), event } as unknown as TreeEvent);
  }
  return tree;
}
