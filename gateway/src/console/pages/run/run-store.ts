import { type ReadonlySignal, signal } from "@preact/signals";
import type { RunView } from "manyhands/internal/runs/run-view";
import { getRun } from "../../api/catalog.ts";
import { ProblemError } from "../../api/client.ts";
import { isEvent } from "../../api/events.ts";
import { followTree, type TreeItem } from "../../api/tree.ts";
import { hasEnded } from "../../parts/icons/glyph.tsx";
import { LiveText } from "./model/live-text.ts";
import { RunTree } from "./model/run-tree.ts";

/** Milliseconds between two requests for the run's figures, which change with every event. */
const figuresEveryMs = 1_000;
/** How often the page of a run that goes on is drawn while nothing happens. */
const clockMs = 1_000;
/** Events are taken in for this long before the page is drawn. */
const takeInMs = 30;

/** What the run view shows, kept up to date while it is open. */
export type RunPageStore = {
  readonly tree: RunTree;
  readonly live: LiveText;
  /** Counts up when the tree or the live text has changed. */
  readonly version: ReadonlySignal<number>;
  readonly run: ReadonlySignal<RunView | undefined>;
  readonly connected: ReadonlySignal<boolean>;
  /** Whether the run has ended and its events are not all there yet. */
  isReading(): boolean;
  /** Until when the run goes on, as far as is known. */
  now(): number;
  readonly problem: ReadonlySignal<unknown>;
  refresh(): void;
  close(): void;
};

/** Opens the run with this id. */
export function openRunStore(id: string): RunPageStore {
  const tree = new RunTree(id, "");
  const live = new LiveText();
  const version = signal(0);
  const run = signal<RunView | undefined>(undefined);
  const connected = signal(true);
  const problem = signal<unknown>(undefined);
  const gone = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const refresh = () => {
    clearTimeout(timer);
    asked = performance.now();
    getRun(id, gone.signal).then(
      (view) => {
        run.value = view;
        if (tree.root.name !== view.name) {
          tree.root.name = view.name;
          version.value += 1;
        }
      },
      (error) => {
        if (error instanceof ProblemError && error.status < 500) problem.value = error;
      },
    );
  };
  const refreshSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, Math.max(0, figuresEveryMs - (performance.now() - asked)));
  };
  const take = (item: TreeItem) => {
    if (item.kind === "connection") connected.value = item.connected;
    else if (item.kind === "asked") tree.asked(item.asked);
    else if (item.kind === "progress") live.add(item.runId, item.progress);
    else {
      tree.add(item.event);
      const { event, runId } = item.event;
      if (isEvent(event, "model-replied") || isEvent(event, "run-ended")) live.clear(runId);
      if (isEvent(event, "tool-ended")) live.end(runId);
    }
  };
  const endedAt = () =>
    run.value !== undefined && hasEnded(run.value.status) ? Date.parse(run.value.updatedAt) : undefined;
  const draw = drawing(version);
  const follow = async () => {
    let since = performance.now();
    for await (const item of followTree(id, gone.signal)) {
      take(item);
      draw.soon();
      if (item.kind === "event") refreshSoon();
      if (performance.now() - since < takeInMs) continue;
      // The page is drawn and keys are heard between two portions.
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
    refresh();
  };
  follow().catch((error) => {
    if (!gone.signal.aborted) problem.value = error;
  });
  refresh();
  // How long it has taken grows while nothing happens, too.
  const clock = setInterval(() => {
    if (run.value !== undefined && !hasEnded(run.value.status) && !document.hidden) draw.soon();
  }, clockMs);
  return {
    ...{ tree, live, version, run, connected, problem, refresh },
    isReading: () => endedAt() !== undefined && tree.root.ended === undefined,
    now: () => endedAt() ?? Date.now(),
    close() {
      gone.abort();
      clearTimeout(timer);
      clearInterval(clock);
      draw.stop();
    },
  };
}

/** Draws once for all that came since the last frame. */
function drawing(version: { value: number }) {
  let frame: number | undefined;
  return {
    soon(): void {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        version.value += 1;
      });
    },
    stop(): void {
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}
