import { ProblemError, request } from "./client.ts";
import { eventFrames, type Progress, silenceMs } from "./follow.ts";
import type { Asked, TreeEvent } from "./tree-events.ts";

const firstWaitMs = 300;
const longestWaitMs = 10_000;

/** Texts of events longer than this come shortened; the inspector asks for the whole. */
const shortText = 2_000;

/** What following a tree yields. */
export type TreeItem =
  | { readonly kind: "event"; readonly event: TreeEvent }
  | { readonly kind: "asked"; readonly asked: Asked }
  | { readonly kind: "progress"; readonly runId: string; readonly progress: Progress }
  | { readonly kind: "connection"; readonly connected: boolean };

type Sent =
  | { readonly opened: string }
  | TreeEvent
  | { readonly asked: Asked }
  | { readonly runId: string; readonly progress: Progress };

/**
 * The events of a run and of all it asked for, and whether the connection holds. After a break it
 * goes on with the next event of each run. Ends when the run has ended; rejects with a ProblemError
 * when the gateway refuses.
 */
export async function* followTree(id: string, signal: AbortSignal): AsyncGenerator<TreeItem> {
  const last = new Map<string, number>();
  const open = new Set([id]);
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      const after = [...last].map(([run, seq]) => `${run}:${seq}`).join(",");
      const query = new URLSearchParams({ texts: String(shortText), ...(after !== "" && { after }) });
      const response = await request(`/runs/${encodeURIComponent(id)}/tree?${query}`, { signal });
      yield { kind: "connection", connected: true };
      for await (const frame of eventFrames(response.body, silenceMs)) {
        if (frame.event === "error") break;
        waitMs = firstWaitMs;
        const item = itemOf(JSON.parse(frame.data));
        if (item.kind === "asked" && item.asked.followed) open.add(item.asked.id);
        if (item.kind === "event") {
          last.set(item.event.runId, item.event.seq);
          if (item.event.event.type === "run-ended") open.delete(item.event.runId);
        }
        yield item;
      }
      if (open.size === 0) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ProblemError && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    // A run elsewhere may stay out of reach; the tree is whole without it once this run has ended.
    if (!open.has(id) && waitMs > firstWaitMs) return;
    if (open.has(id)) yield { kind: "connection", connected: false };
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
  }
}

function itemOf(sent: Sent): TreeItem {
  if ("opened" in sent) return { kind: "connection", connected: true };
  if ("asked" in sent) return { kind: "asked", asked: sent.asked };
  if ("progress" in sent) return { kind: "progress", runId: sent.runId, progress: sent.progress };
  return { kind: "event", event: sent };
}
