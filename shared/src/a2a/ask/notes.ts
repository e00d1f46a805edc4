import type { EventOf, JournalEvent, ReadEvent } from "../../core/events/events.ts";
import type { PeerWriting, Progress, ToolOutput } from "../../core/events/progress.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { StepContext } from "../../core/runs/run.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import type { TaskUsage } from "../../core/usage.ts";
import type { TaskUpdate } from "../client/task-update.ts";
import type { Ask } from "./ask.ts";
import { type SeenCall, seenCall } from "./peer-calls.ts";

/**
 * Most progress lines stored per ask, the last of which says so, and how long a step's first line
 * waits for others.
 */
const maxLines = 100;
const gatherMs = 2_000;

/** Characters of the name of a call. */
const longestName = 100;

/** Most characters of live output shown at once, and per ask in one step. */
const longestOutput = 400;
const maxOutput = 200_000;

/** Whether each type of event of an agent of ours is worth a progress line at the asker. */
const telling: { readonly [Type in ReadEvent["type"]]: boolean } = {
  "message-received": false,
  "message-heard": false,
  "step-started": false,
  "model-replied": false,
  "model-asked": false,
  "tool-started": true,
  "tool-ended": false,
  "context-compacted": false,
  "memory-recalled": true,
  "agent-asked": true,
  "agent-accepted": false,
  "agent-progressed": false,
  "agent-used": false,
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

/**
 * The progress lines reported in earlier steps, so that the next step does not repeat the last one,
 * and the usage reported last.
 */
export type ToldLines = { readonly told: number; readonly line?: string; readonly used?: TaskUsage };

/** Where a step goes on: what was told, and the last event of the task that an earlier step saw. */
export type Before = ToldLines & { readonly after: number };

/** What the asker's run reports of the other agent's work. */
export type Notes = {
  take(update: TaskUpdate): void;
  /** Adds a line, unless it equals the last one. */
  say(text: string): void;
  /** Takes what the other agent's task has used so far, if it reports that. */
  count(usage: TaskUsage | undefined): void;
  /** Reports what the task has used so far, unless that is reported already. */
  tellUsage(): void;
  /** How many lines of the ask have been reported, the last of them, and the usage. */
  told(): ToldLines;
  /** What this step has seen of calls. */
  calls(): readonly SeenCall[];
  /** Aborted when the lines added should be stored. */
  readonly due: AbortSignal;
};

type ProgressFacts = Pick<EventOf<"agent-progressed">, "call" | "notice">;

/** What a view may want to know of a progress line beside its words. */
function factsOf(event: ReadEvent): ProgressFacts {
  if (event.type === "tool-started") return { call: sanitizeLine(event.name, longestName) };
  return event.type === "notice-given" ? { notice: event.kind } : {};
}

/**
 * What an agent says and its calls print, as progress of the step, up to `maxOutput` characters.
 */
function liveOutput(askId: string, agent: string, step: StepContext) {
  let shown = 0;
  const fits = (text: string) => {
    shown += text.length;
    return shown <= maxOutput;
  };
  return {
    show(text: string): void {
      if (!fits(text) || text.trim() === "") return;
      step.progress({ type: "agent-output", askId, agent, text } satisfies Progress);
    },
    /** `seen` is the last event seen of the agent's task. */
    passOn({ callId, text, askId: deeper, below = [], after = 0 }: ToolOutput, seen: number): void {
      if (!fits(text)) return;
      const place = deeper === undefined ? { after: seen } : { below: [deeper, ...below], after };
      step.progress({ type: "tool-output", callId, text, askId, ...place } satisfies Progress);
    },
  };
}

/** Notes for one step: a few lines as its events, live output as its progress. */
export function remoteNotes(
  { askId, agent: { name: agent }, isAnswer = false }: Ask,
  before: Before,
  step: StepContext,
): Notes {
  const due = new AbortController();
  let count = before.told;
  let last = before.line ?? "";
  let line = "";
  let used: TaskUsage | undefined;
  let toldUsed = before.used;
  let seen = before.after;
  const calls: SeenCall[] = [];
  const output = liveOutput(askId, agent, step);
  const whose = { askId, ...(isAnswer && { isAnswer }) };
  const say = (told: string, facts: ProgressFacts = {}) => {
    const short = sanitizeLine(told);
    if (short === "" || short === last || count >= maxLines) return;
    const hasRoom = count < maxLines - 1;
    const [text, about] = hasRoom
      ? [short, facts]
      : [`What ${agent} does from here on is told by its own run only.`, {}];
    last = text;
    if (count++ === before.told) setTimeout(() => due.abort(), gatherMs).unref();
    toldUsed = used ?? toldUsed;
    step.emit({
      type: "agent-progressed",
      askId,
      agent,
      text,
      ...about,
      ...(used && { usedSoFar: used }),
    } satisfies JournalEvent);
  };
  const notes: Notes = {
    due: due.signal,
    say: (text) => say(text),
    calls: () => calls,
    count(usage) {
      used = usage ?? used;
    },
    tellUsage() {
      if (used === undefined || (used.tokens === toldUsed?.tokens && used.usd === toldUsed.usd)) return;
      toldUsed = used;
      step.emit({ type: "agent-used", askId, agent, usedSoFar: used } satisfies JournalEvent);
    },
    told: () => ({ told: count, ...(last !== "" && { line: last }), ...(toldUsed && { used: toldUsed }) }),
    take(update) {
      if ("seq" in update) seen = Math.max(seen, update.seq ?? 0);
      if (update.kind === "status") {
        notes.count(update.usage);
        const event = update.journal && readEvent(update.journal.event);
        if (event !== undefined && telling[event.type]) say(update.text, factsOf(event));
        const call = event && seenCall(event);
        if (call !== undefined) calls.push(call);
        if (event?.type === "model-replied") {
          const thought = event.toolCalls.length > 0 && { isThought: true };
          step.progress({ type: "agent-written", ...whose, text: event.text, ...thought } satisfies PeerWriting);
        }
      }
      if (update.kind !== "progress") return;
      if (update.progress.type === "tool-output") output.passOn(update.progress, seen);
      if (update.progress.type !== "text-delta") return;
      const { text, at } = update.progress;
      if (at !== undefined) step.progress({ type: "agent-writing", ...whose, text, at } satisfies PeerWriting);
      line += update.progress.text;
      const end = line.length > longestOutput ? line.length : line.lastIndexOf("\n") + 1;
      if (end === 0) return;
      output.show(line.slice(0, end));
      line = line.slice(end);
    },
  };
  return notes;
}
