import { type Signal, signal } from "@preact/signals";
import { textOf } from "manyhands/internal/core/message";
import { useEffect, useMemo } from "preact/hooks";
import { isEvent, type SentEvent, type StoredEvent } from "../../api/events.ts";
import { followRun, type Progress } from "../../api/follow.ts";
import { announce } from "../../parts/announcer.tsx";
import { complain } from "../../parts/toast.tsx";
import { titleOfName } from "../../state/names.ts";
import { safeText, shortLine } from "../../words/format.ts";
import { createThread, type Thread } from "./thread.ts";

/** Characters kept in view per speaker; the stored event brings the whole text. */
const maxCharacters = 4_000;

/** Words that are not stored yet, by who speaks; `isVoid`: they are being replaced. */
export type LiveWords = readonly { readonly who: string; readonly text: string; readonly isVoid: boolean }[];

/** A run as it is followed: `version` counts what changed in the thread. */
export type FollowedRun = {
  readonly thread: Thread;
  readonly version: Signal<number>;
  readonly live: Signal<LiveWords>;
  readonly connected: Signal<boolean>;
};

/** Events that store what was shown live. */
const settling = new Set(["model-replied", "tool-ended", "agent-answered", "run-ended", "question-asked"]);

/**
 * Follows a run while the component is shown. `onEvent` is called after new events, at most once a
 * frame. Messages after the event numbered `read` are announced.
 */
export function useRunEvents(id: string, name: string, onEvent: () => void, read: number): FollowedRun {
  const run = useMemo(
    () => ({
      thread: createThread(name),
      version: signal(0),
      live: signal<LiveWords>([]),
      connected: signal(true),
    }),
    [id],
  );
  useEffect(() => {
    const left = new AbortController();
    const onStored = announcing(name, read);
    void follow(id, run, left.signal, onEvent, onStored).catch((error) => left.signal.aborted || complain(error));
    return () => left.abort();
  }, [id]);
  return run;
}

/**
 * Announces what is said to the person after the event numbered `read`: whole messages, each once.
 */
function announcing(name: string, read: number): (item: StoredEvent) => void {
  let said = "";
  return ({ seq, event }) => {
    const text = isEvent(event, "model-replied") ? event.text : answerIn(event);
    if (seq <= read || text.trim() === "" || text === said) return;
    said = text;
    announce(`${titleOfName(name)}: ${shortLine(safeText(text), 300)}`);
  };
}

function answerIn(event: SentEvent): string {
  if (!isEvent(event, "artifact-added") || event.name !== "answer") return "";
  return textOf(event.parts);
}

async function follow(
  id: string,
  run: FollowedRun,
  left: AbortSignal,
  onEvent: () => void,
  onStored: (item: StoredEvent) => void,
): Promise<void> {
  let frame = 0;
  const show = () => {
    if (frame !== 0) return;
    frame = setTimeout(() => {
      frame = 0;
      run.version.value += 1;
      onEvent();
    }, 16) as unknown as number;
  };
  for await (const item of followRun(id, left)) {
    if (item.kind === "connection") run.connected.value = item.connected;
    else if (item.kind === "progress") run.live.value = withProgress(run.live.value, item.progress, run.thread);
    else {
      run.thread.add(item);
      onStored(item);
      if (settling.has(item.event.type) && run.live.value.length > 0) run.live.value = [];
      show();
    }
  }
}

function withProgress(before: LiveWords, { type, text, agent, askId, isThought }: Progress, thread: Thread): LiveWords {
  let live = before;
  if (type === "deltas-void") return live.map((one) => ({ ...one, isVoid: true }));
  if (typeof text !== "string") return live;
  const asked = askId === undefined ? undefined : thread.askedOf(askId);
  const isOutput = type === "tool-output";
  const who = (isOutput ? undefined : (agent ?? asked)) ?? (type === "text-delta" ? nameOf(thread) : `:${type}`);
  // An asked agent that writes on has done its calls.
  if (asked !== undefined && !isOutput) live = live.filter((one) => one.who !== ":tool-output");
  const spoken = live.find((one) => one.who === who && !one.isVoid);
  // The whole of what was written in pieces; a thought goes on with calls.
  const isWhole = type === "agent-written";
  if (isWhole && (isThought === true || text === "")) return live.filter((one) => one !== spoken);
  const next = { who, text: `${isWhole ? "" : (spoken?.text ?? "")}${text}`.slice(-maxCharacters), isVoid: false };
  return spoken === undefined ? [...live, next] : live.map((one) => (one === spoken ? next : one));
}

/** Who speaks without a name: the run's own agent. */
function nameOf(thread: Thread): string {
  const turn = thread.items.findLast((item) => item.kind === "turn" && item.asked === undefined);
  return turn?.kind === "turn" ? turn.who : "";
}
