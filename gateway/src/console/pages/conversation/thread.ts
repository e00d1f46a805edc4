import type { EventOf, JournalEvent } from "manyhands/internal/core/events/events";
import { type Part, textOf } from "manyhands/internal/core/message";
import type { TaskUsage } from "manyhands/internal/core/usage";
import { type FlowSent, isFlowEvent, type StoredEvent } from "../../api/events.ts";
import { type PlanItem, planOf } from "../run/model/plan.ts";
import type { Contribution, ContributionCall, Note, SaidItem, ThreadItem } from "./thread-items.ts";

/** A conversation's run as people read it: built from its events, one at a time. */
export type Thread = {
  readonly items: readonly ThreadItem[];
  readonly plan: readonly PlanItem[];
  add(stored: StoredEvent): void;
  /** The agent that was asked so; undefined for an ask that is not known. */
  askedOf(askId: string): string | undefined;
};

type Building = {
  readonly name: string;
  readonly items: ThreadItem[];
  plan: readonly PlanItem[];
  readonly asks: Map<string, Contribution>;
  readonly calls: Map<string, ContributionCall>;
  /** What was said to the run at work and is not read yet, by its message's id. */
  readonly unread: Map<string, SaidItem>;
  lastNote?: string;
};

/** The thread of a run of this flow or agent, before its first event. */
export function createThread(name: string): Thread {
  const thread: Building = { name, items: [], plan: [], asks: new Map(), calls: new Map(), unread: new Map() };
  return {
    items: thread.items,
    get plan() {
      return thread.plan;
    },
    askedOf: (askId) => thread.asks.get(askId)?.who,
    add(stored) {
      if (isFlowEvent(stored.event)) addNote(thread, stored, stored.event);
      else if (Object.hasOwn(readers, stored.event.type)) read(thread, stored, stored.event);
    },
  };
}

type Reader<Type extends JournalEvent["type"]> = (
  thread: Building,
  event: Extract<JournalEvent, { type: Type }>,
  stored: StoredEvent,
) => void;

function read(thread: Building, stored: StoredEvent, event: JournalEvent): void {
  (readers[event.type] as Reader<typeof event.type>)(thread, event as never, stored);
}

/** How each type of event changes the thread. */
export const readers: { readonly [Type in JournalEvent["type"]]: Reader<Type> } = {
  "message-received": (thread, { messageId, parts }, stored) => {
    const text = textOf(parts);
    const open = thread.items.findLast((item) => item.kind === "question");
    if (open?.kind === "question" && open.answer === undefined && !open.isOver) open.answer = { text, at: stored.at };
    else {
      const said: SaidItem = { kind: "said", ...placeOf(stored), text, files: filesOf(parts), isUnread: false };
      // The message that began the run is its task.
      if (thread.items.length > 0) thread.unread.set(messageId, said);
      thread.items.push(said);
    }
  },
  "message-heard": (thread, { messageId, as }) => {
    thread.unread.delete(messageId);
    // One question of a run is open at a time.
    if (as === "answer") for (const turn of thread.asks.values()) turn.isAsking = false;
  },
  "step-started": (thread, _, stored) => {
    closeQuestion(thread);
    turnOf(thread, stored);
  },
  "model-replied": (thread, { text, usage, milliseconds }, stored) => {
    const turn = turnOf(thread, stored);
    count(turn, usage.costUsd, milliseconds);
    if (text.trim() !== "") turn.parts.push({ kind: "text", text });
  },
  // What it thought is over by now.
  "model-asked": (thread, { usage, milliseconds }, stored) =>
    count(turnOf(thread, stored, "done"), usage.costUsd, milliseconds),
  "tool-started": (thread, { callId, name, arguments: given, forTask }, stored) => {
    const call: ContributionCall = {
      id: callId,
      seq: stored.seq,
      name,
      arguments: given,
      ...(forTask !== undefined && { forTask }),
    };
    thread.calls.set(callId, call);
    turnOf(thread, stored).calls.push(call);
  },
  "tool-ended": (thread, { callId, name, text, isError, milliseconds }, stored) => {
    const call = thread.calls.get(callId) ?? { id: callId, seq: stored.seq, name, arguments: "" };
    // A call that was refused before it began has only an end.
    if (!thread.calls.has(callId)) turnOf(thread, stored).calls.push(call);
    call.ended = { text, isError, milliseconds };
    turnOf(thread, stored).milliseconds += milliseconds;
  },
  "context-compacted": (thread, { summary }, stored) =>
    void turnOf(thread, stored).parts.push({ kind: "notice", text: "", more: summary }),
  "memory-recalled": (thread, { entries }, stored) => {
    if (entries.length === 0) return;
    const texts = entries.map(({ id, text }) => `[${id}] ${text}`);
    turnOf(thread, stored).parts.push({ kind: "recalled", entries: texts });
  },
  "agent-asked": (thread, { askId, agent, text, parts }, stored) => {
    const asked = textOf(parts) || text;
    const turn: Contribution = { ...newTurn(agent, stored), asked };
    thread.asks.set(askId, turn);
    thread.items.push(turn);
  },
  "agent-accepted": (thread, { askId, taskId }) => {
    const turn = thread.asks.get(askId);
    if (turn !== undefined) turn.taskId = taskId;
  },
  "agent-progressed": (thread, { askId, text, usedSoFar }) => {
    const turn = thread.asks.get(askId);
    turn?.progress.push(text);
    setUsed(turn, usedSoFar);
  },
  "agent-used": (thread, { askId, usedSoFar }) => setUsed(thread.asks.get(askId), usedSoFar),
  "agent-answered": answered,
  "question-asked": (thread, asked, stored) => {
    closeQuestion(thread);
    restTurns(thread);
    const turn = thread.asks.get(asked.askId ?? "");
    if (turn !== undefined) turn.isAsking = true;
    const who = asked.from?.agent ?? turn?.who ?? thread.name;
    thread.items.push({ kind: "question", ...placeOf(stored), who, asked, isOver: false });
  },
  "notice-given": (thread, { text }, stored) => void turnOf(thread, stored).parts.push({ kind: "notice", text }),
  "artifact-added": addArtifact,
  "run-paused": (thread, { error }, stored) =>
    note(thread, stored, { tone: "wait", text: error?.message ?? "", of: "run-paused" }),
  "run-resumed": (thread, _, stored) => note(thread, stored, { tone: "plain", text: "", of: "run-resumed" }),
  "run-ended": (thread, { status, error }, stored) => {
    closeQuestion(thread);
    for (const said of thread.unread.values()) said.isUnread = true;
    for (const call of thread.calls.values()) if (call.ended === undefined) call.isCut = true;
    for (const item of thread.items)
      if (item.kind === "turn" && item.state === "working") item.state = status === "completed" ? "done" : status;
    if (status === "completed") return;
    // What an agent or a step failed with is often what the run failed with, and told already.
    const isTold = thread.items.some((item) => errorOf(item) === error?.message);
    const text = isTold ? "" : (error?.message ?? "");
    note(thread, stored, { tone: status === "failed" ? "bad" : "plain", text, of: status });
  },
};

function errorOf(item: ThreadItem): string | undefined {
  if (item.kind === "turn") return item.error;
  return item.kind === "note" && item.tone === "bad" ? item.text : undefined;
}

function answered(
  thread: Building,
  { askId, agent, state, error, files, usage }: EventOf<"agent-answered">,
  stored: StoredEvent,
) {
  const asked = thread.asks.get(askId);
  const turn = asked ?? newTurn(agent, stored);
  if (asked === undefined) thread.items.push(turn);
  turn.isAsking = false;
  turn.state = state === "completed" ? "done" : state === "canceled" ? "canceled" : "failed";
  turn.milliseconds = Date.parse(stored.at) - Date.parse(turn.at);
  setUsed(turn, usage);
  if (error !== undefined) turn.error = error.message;
  if (files.length > 0) {
    const parts = files.map((file) => ({ type: "file" as const, ...file }));
    turn.parts.push({ kind: "files", name: agent, files: parts });
  }
}

function addArtifact(thread: Building, { name, parts }: EventOf<"artifact-added">, stored: StoredEvent): void {
  const files = parts.filter((part) => part.type === "file");
  const text = textOf(parts);
  // What it failed with is told where it happened.
  if (thread.items.some((item) => item.kind === "turn" && item.error === text.trim() && text !== "")) return;
  const turn = turnOf(thread, stored);
  const said = turn.parts.findLast((part) => part.kind === "text");
  const isKnown = said?.kind === "text" && said.text.trim() === text.trim();
  const isAnswer = name === "answer" || name === "partial-answer";
  if (isAnswer && text.trim() !== "" && !isKnown) turn.parts.push({ kind: "text", text });
  if (files.length > 0) turn.parts.push({ kind: "files", name, files });
}

/** The turn of the run's own agent or flow that is under way, or a new one. */
function turnOf(thread: Building, stored: StoredEvent, state: Contribution["state"] = "working"): Contribution {
  const last = thread.items.at(-1);
  if (last?.kind === "turn" && last.who === thread.name && last.asked === undefined) return last;
  const turn = { ...newTurn(thread.name, stored), state };
  restTurns(thread);
  thread.items.push(turn);
  return turn;
}

/** Only the newest turn of the run itself is at work, and none while a person is asked. */
function restTurns(thread: Building): void {
  for (const item of thread.items)
    if (item.kind === "turn" && item.asked === undefined && item.state === "working") item.state = "done";
}

function newTurn(who: string, stored: StoredEvent): Contribution {
  const empty = { parts: [], calls: [], progress: [], milliseconds: 0, usd: 0, unpriced: false };
  return { kind: "turn", ...placeOf(stored), who, ...empty, state: "working" };
}

function count(turn: Contribution, costUsd: number | null, milliseconds: number): void {
  turn.milliseconds += milliseconds;
  turn.usd += costUsd ?? 0;
  turn.unpriced ||= costUsd === null;
}

/** The newest report of an agent that was asked is what it has used in all. */
function setUsed(turn: Contribution | undefined, used: TaskUsage | undefined): void {
  if (turn === undefined || used === undefined) return;
  turn.usd = used.usd;
  turn.unpriced = used.unpriced;
}

function closeQuestion(thread: Building): void {
  for (const item of thread.items) if (item.kind === "question" && item.answer === undefined) item.isOver = true;
}

const tones: Readonly<Record<string, Note["tone"]>> = {
  completed: "good",
  passed: "good",
  failed: "bad",
  blocked: "bad",
  not_passed: "wait",
};

/** What a flow reports in its own words, marked by the outcome or the start in its data. */
function addNote(thread: Building, stored: StoredEvent, event: FlowSent): void {
  const { type, note: text, data = {} } = event;
  if (type === "plan-changed") {
    thread.plan = planOf(event) ?? thread.plan;
    // When an item changes the plan, its own line says so.
    if (text === thread.lastNote) return;
  }
  thread.lastNote = text;
  const outcome = tones[String(data.outcome ?? "")];
  const more = type === "plan-changed" ? data.text : undefined;
  const tone = outcome ?? (data.begun === true ? "begun" : "plain");
  note(thread, stored, { tone, text, of: type, ...(typeof more === "string" && { more }) });
}

function note(
  thread: Building,
  stored: StoredEvent,
  { of, text, ...rest }: Pick<Note, "tone" | "text" | "more"> & { readonly of: string },
): void {
  thread.items.push({ kind: "note", ...placeOf(stored), text: text || `:${of}`, ...rest });
}

const placeOf = ({ seq, at }: StoredEvent) => ({ seq, at });

function filesOf(parts: readonly Part[]): { name: string; size?: number }[] {
  return parts.flatMap((part) => {
    if (part.type === "file") return [{ name: part.name, size: part.size }];
    return part.type === "url" ? [{ name: part.name ?? part.url }] : [];
  });
}
