import { type RelayedOutput, relayedOutput } from "../core/events/progress.ts";
import type { FollowItem } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";

/** Pieces of output that wait for the events before them; older ones are dropped. */
const maxHeld = 1000;

type Shown = { readonly kind: "progress"; readonly event: RunEvent; readonly runId: string };
type Piece = { readonly from: string; readonly output: RelayedOutput };

/**
 * What calls of asked runs print, in the place where it belongs: below the run that makes the call,
 * between its events. The runs that asked pass it on, each what is below it alone; a call's output
 * is taken from the run that tells of it first, so that nothing is shown twice.
 */
export function createRelayedOutput() {
  const tasks = new Map<string, Map<string, string>>();
  const read = new Map<string, number>();
  const tellers = new Map<string, Map<string, string>>();
  let held: Piece[] = [];

  const taskOf = ({ from, output: { askId, below = [] } }: Piece) =>
    [askId, ...below].reduce<string | undefined>((run, ask) => run && tasks.get(run)?.get(ask), from);
  const tells = (runId: string, callId: string, from: string) => {
    const ofRun = tellers.get(runId) ?? new Map<string, string>();
    tellers.set(runId, ofRun);
    if (!ofRun.has(callId)) ofRun.set(callId, from);
    return ofRun.get(callId) === from;
  };
  /** Takes the pieces that belong before the event with this number of a run. */
  const due = (runId: string, seq: number): Shown[] => {
    const shown: Shown[] = [];
    held = held.filter((piece) => {
      const { callId, text, after } = piece.output;
      if (taskOf(piece) !== runId || after >= seq) return true;
      if (after >= (read.get(runId) ?? 0) && tells(runId, callId, piece.from))
        shown.push({ kind: "progress", runId, event: { type: "tool-output", callId, text } });
      return false;
    });
    return shown;
  };

  return {
    /** A run's ask became this task, which the reader has up to the event `after`. */
    accepted(runId: string, askId: string, taskId: string, after: number): void {
      tasks.set(runId, (tasks.get(runId) ?? new Map<string, string>()).set(askId, taskId));
      read.set(taskId, Math.max(after, read.get(taskId) ?? 0));
    },
    /**
     * Takes progress of a run that is not to be shown as its own: output that it passes on, and
     * that of a call of its own that has come by another way.
     */
    takes({ runId, event }: Shown): boolean {
      if (event.type !== "tool-output") return false;
      const output = relayedOutput(event);
      if (output === undefined) return !tells(runId, String(event.callId), runId);
      if (held.length === maxHeld) held.shift();
      held.push({ from: runId, output });
      return true;
    },
    /** What comes before this event. */
    before({ runId, seq, event }: Extract<FollowItem, { kind: "event" }>): readonly Shown[] {
      const shown = held.length === 0 ? [] : due(runId, seq);
      read.set(runId, seq);
      if (event.type === "tool-ended") tellers.get(runId)?.delete(String(event.callId));
      if (event.type === "run-ended") tellers.delete(runId);
      return shown;
    },
    /** What belongs behind the events that the reader has by now. */
    now(): readonly Shown[] {
      const runs = new Set(held.map(taskOf).filter((run) => run !== undefined));
      return [...runs].flatMap((run) => due(run, (read.get(run) ?? 0) + 1));
    },
  };
}
