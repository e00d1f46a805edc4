import type { LiveFrame, LiveOrder, LiveScreen, LiveState } from "manyhands/internal/core/live-page";
import { runPath } from "./catalog.ts";
import { request } from "./client.ts";
import { eventFrames, silenceMs } from "./follow.ts";

/** What a view of a page gets. */
export type LiveItem = LiveState | LiveFrame | { readonly ended: true };

/** What is done to a page. */
export type PageInput = Extract<LiveOrder, { do: "input" }>["inputs"][number];

/** What of which task of a run is watched. */
export type LivePlace = { readonly runId: string; readonly task: string; readonly screen: LiveScreen };

const livePath = ({ runId, task, screen }: LivePlace) =>
  `${runPath(runId)}/live?${new URLSearchParams({ task, screen })}`;

/**
 * The page or desktop that a task of the run has open, until the stream breaks. Rejects with a
 * ProblemError when the gateway refuses.
 */
export async function* watchPage(place: LivePlace, signal: AbortSignal): AsyncGenerator<LiveItem> {
  const response = await request(livePath(place), { signal });
  for await (const { data, event } of eventFrames(response.body, silenceMs)) {
    if (event === "error") return;
    yield JSON.parse(data);
  }
}

/** Takes the page or desktop, uses it, or hands it back; also while the console is being left. */
export async function orderPage(place: LivePlace, order: LiveOrder): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  await request(livePath(place), { method: "POST", headers, body: JSON.stringify(order), keepalive: true });
}
