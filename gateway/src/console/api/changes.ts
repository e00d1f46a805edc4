import type { RunView } from "manyhands/internal/runs/run-view";
import { ProblemError, request, tokenMark } from "./client.ts";
import { eventFrames } from "./follow.ts";

/** The gateway sends a comment every 20 s: a connection silent for this long is dead. */
const silenceMs = 60_000;
const firstWaitMs = 500;
const longestWaitMs = 10_000;

/** A run that has changed. */
export type ChangedRun = Pick<RunView, "id" | "contextId" | "status" | "lastEvent">;

/** What changed. `all`: anything may have, since the connection is new. */
export type Change = {
  readonly runs: readonly ChangedRun[];
  readonly all?: true;
  readonly more?: true;
  readonly agents?: true;
};

/** What listeners are told: changes, and whether the connection holds. */
export type ConnectionNotice = { readonly change: Change } | { readonly connected: boolean };

/**
 * Tells what changes from now on. Tabs of one person share one connection, since browsers allow
 * only six to a server: the first tab has it and tells the others, and when it closes, the next
 * one takes its place.
 */
export function listenToChanges(tell: (notice: ConnectionNotice) => void): void {
  const name = `manyhands-changes-${tokenMark()}`;
  const others = new BroadcastChannel(name);
  others.onmessage = ({ data }) => tell(data);
  const lead = () =>
    follow((notice) => {
      tell(notice);
      others.postMessage(notice);
    });
  // Pages that came by plain HTTP from another machine have no locks: each has its own connection.
  if (navigator.locks === undefined) void lead();
  else void navigator.locks.request(name, lead);
}

/** Follows the stream of changes for as long as the page is there. */
async function follow(tell: (notice: ConnectionNotice) => void): Promise<void> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      const response = await request("/changes");
      let isFirst = true;
      for await (const frame of eventFrames(response.body, silenceMs)) {
        if (frame.event === "error") break;
        const change: Change = JSON.parse(frame.data);
        if (isFirst) tell({ connected: true });
        tell({ change: isFirst ? { ...change, all: true } : change });
        isFirst = false;
        waitMs = firstWaitMs;
      }
    } catch (error) {
      // A gateway that refuses is there.
      if (error instanceof ProblemError && error.status < 500) waitMs = longestWaitMs;
    }
    tell({ connected: false });
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
