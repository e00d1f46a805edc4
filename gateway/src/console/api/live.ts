import type { LiveFrame, LiveOrder, LiveState } from "manyhands/internal/core/live-page";
import { runPath } from "./catalog.ts";
import { request } from "./client.ts";
import { eventFrames, silenceMs } from "./follow.ts";

/** What a view of a page gets. */
export type LiveItem = LiveState | LiveFrame | { readonly ended: true };

/** What is done to a page. */
export type PageInput = Extract<LiveOrder, { do: "input" }>["inputs"][number];

const livePath = (id: string, task: string) => `${runPath(id)}/live?task=${encodeURIComponent(task)}`;

/**
 * The page that a task of the run has open, until the stream breaks. Rejects with a ProblemError
 * when the gateway refuses.
 */
export async function* watchPage(id: string, task: string, signal: AbortSignal): AsyncGenerator<LiveItem> {
  const response = await request(livePath(id, task), { signal });
  for await (const { data, event } of eventFrames(response.body, silenceMs)) {
    if (event === "error") return;
    yield JSON.parse(data);
  }
}

/** Takes the page, uses it, or hands it back; also while the console is being left. */
export async function orderPage(id: string, task: string, order: LiveOrder): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  await request(livePath(id, task), { method: "POST", headers, body: JSON.stringify(order), keepalive: true });
}
