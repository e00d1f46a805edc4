import { type JournalEvent, type ReadEvent, readEvent } from "../../core/events.ts";
import type { PeerWriting, Progress } from "../../core/progress.ts";
import type { StepContext } from "../../core/run.ts";
import type { TaskUsage } from "../../core/usage.ts";
import type { TaskUpdate } from "../client/task-update.ts";
import type { Ask } from "./ask.ts";
import { shortLine } from "./short-line.ts";

/**
 * Lines of an ask's progress that are stored, and how long the first of a step waits for others.
 */
const mostLines = 100;
const gatherMs = 2_000;

/** Characters of live output that are shown at once, and of an ask in one step. */
const longestOutput = 400;
const mostOutput = 200_000;

/** For each type of event of an agent of ours, whether it is worth a line to whoever asked it. */
const telling: { readonly [Type in ReadEvent["type"]]: boolean } = {
  "message-received": false,
  "message-heard": false,
  "step-started": false,
  "model-replied": false,
  "model-asked": false,
  "tool-started": true,
  "tool-ended": false,
  "context-compacted": false,
  "agent-asked": true,
  "agent-accepted": false,
  "agent-progressed": false,
  "agent-answered": true,
  "question-asked": false,
  "notice-given": true,
  "artifact-added": false,
  "flow-told": true,
  "run-paused": true,
  "run-resumed": false,
  "run-ended": false,
  unknown: false,
};

/** What was told of an ask in the steps before: the same line is not told again in the next. */
export type ToldLines = { readonly told: number; readonly line?: string };

/** What the asker's run tells of the other agent's work. */
export type Notes = {
  take(update: TaskUpdate): void;
  /** Notes a line, unless it is the one noted last. */
  say(text: string): void;
  /** How many lines of the ask have been told, and the one that was told last. */
  told(): ToldLines;
  /** Aborted when what was noted should be stored. */
  readonly due: AbortSignal;
};

/** Notes for one step: few lines as events of the step, and what is said live as progress of it. */
export function childNotes(
  { askId, agent: { name: agent }, isAnswer = false }: Ask,
  before: ToldLines,
  step: StepContext,
): Notes {
  const due = new AbortController();
  let count = before.told;
  let last = before.line ?? "";
  let line = "";
  let used: TaskUsage | undefined;
  let shown = 0;
  const whose = { askId, ...(isAnswer && { isAnswer }) };
  const show = (text: string) => {
    shown += text.length;
    if (shown > mostOutput || text.trim() === "") return;
    step.progress({ type: "agent-output", askId, agent, text } satisfies Progress);
  };
  const say = (text: string) => {
    const short = shortLine(text);
    if (short === "" || short === last || count >= mostLines) return;
    last = short;
    if (count++ === before.told) setTimeout(() => due.abort(), gatherMs).unref();
    step.emit({
      type: "agent-progressed",
      askId,
      agent,
      text: short,
      ...(used && { usedSoFar: used }),
    } satisfies JournalEvent);
  };
  return {
    due: due.signal,
    say,
    told: () => ({ told: count, ...(last !== "" && { line: last }) }),
    take(update) {
      if (update.kind === "status") {
        used = update.usage ?? used;
        const event = update.journal && readEvent(update.journal.event);
        if (event !== undefined && telling[event.type]) say(update.text);
        if (event?.type === "model-replied")
          step.progress({ type: "agent-written", ...whose, text: event.text } satisfies PeerWriting);
      }
      if (update.kind !== "progress" || update.progress.type !== "text-delta") return;
      const { text, at } = update.progress;
      if (at !== undefined) step.progress({ type: "agent-writing", ...whose, text, at } satisfies PeerWriting);
      line += update.progress.text;
      const end = line.length > longestOutput ? line.length : line.lastIndexOf("\n") + 1;
      if (end === 0) return;
      show(line.slice(0, end));
      line = line.slice(end);
    },
  };
}
