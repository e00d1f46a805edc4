import { signal } from "@preact/signals";
import type { RunView } from "manyhands/internal/runs/run-view";
import { getRun } from "../api/catalog.ts";
import type { ChangedRun } from "../api/changes.ts";
import { announce } from "../parts/announcer.tsx";
import { hasEnded } from "../parts/icons/glyph.tsx";
import { titleOf } from "../state/names.ts";
import { place } from "../state/router.ts";
import { lastChange, recent, waiting, waitsForPerson } from "../state/store.ts";
import { plainText } from "../words/format.ts";
import { words } from "../words/words.ts";
import { notify } from "./notifications.ts";

/** States by run, as they were told last. */
const states = new Map<string, RunView["status"]>();
/** Runs whose state is remembered; the oldest is forgotten. */
const maxKnown = 500;

type Failed = Pick<ChangedRun, "id" | "contextId">;

/** Runs that failed while this page was open, and that the person has not looked at since. */
export const unseenFailures = signal<readonly Failed[]>([]);

/**
 * Tells of runs that begin to wait, and of those that end, from now on; returns what ends that.
 */
export function startRunNews(): () => void {
  const stops = [
    lastChange.subscribe(({ runs }) => {
      for (const run of runs) if (isNews(run)) void tell(run);
    }),
    place.subscribe(() => forgetSeen()),
    () => document.removeEventListener("visibilitychange", forgetSeen),
  ];
  document.addEventListener("visibilitychange", forgetSeen);
  return () => {
    for (const stop of stops) stop();
  };
}

/** Whether it entered a state that a person wants to hear of. */
function isNews(run: ChangedRun): boolean {
  const known =
    states.get(run.id) ?? [...(recent.peek() ?? []), ...waiting.peek()].find(({ id }) => id === run.id)?.status;
  remember(run);
  if (known === run.status) return false;
  // People who stop a run need no news of that.
  return waitsForPerson(run.status) || (hasEnded(run.status) && run.status !== "canceled");
}

function remember({ id, status }: ChangedRun): void {
  states.delete(id);
  states.set(id, status);
  const [oldest] = states.keys();
  if (states.size > maxKnown && oldest !== undefined) states.delete(oldest);
}

async function tell(run: ChangedRun): Promise<void> {
  const view = await getRun(run.id).catch(() => undefined);
  if (view === undefined) return;
  const state = words().states[run.status];
  announce(`${state}: ${titleOf(view)}`);
  if (isLookedAt(run)) return;
  if (run.status === "failed") unseenFailures.value = [...unseenFailures.value.filter(({ id }) => id !== run.id), run];
  notify({
    ...{ id: run.id, contextId: run.contextId, title: state },
    text: (view.question && plainText(view.question)) ?? view.error?.message ?? titleOf(view, 120),
  });
}

/** Whether the person has the run before them. */
function isLookedAt({ id, contextId }: Failed): boolean {
  if (document.hidden) return false;
  const [first, shown] = place.peek().parts;
  return first === "runs" ? shown === undefined || shown === id : first === "c" && shown === contextId;
}

function forgetSeen(): void {
  const left = unseenFailures.peek().filter((run) => !isLookedAt(run));
  if (left.length !== unseenFailures.peek().length) unseenFailures.value = left;
}
