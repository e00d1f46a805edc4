import type { AgentState, SeenObservation, TaskMessage, View, Views } from "../task/agent-state.ts";
import { messageTokens, viewTokens } from "./prompt-tokens.ts";

/** For how many turns an image of a tool is worth its tokens; by then the model has described it. */
const turnsShown = 5;

/**
 * Tokens of changes after which an observation is made whole again, so that the changes can be
 * folded.
 */
const mostChanges = 3_000;

/** The views of a conversation when a task starts. */
export function viewsIn(messages: readonly TaskMessage[]): Views {
  return { open: messages.filter(isView).map((message) => ({ message, step: 0 })), weighed: 0 };
}

/** Adds a message to the conversation; what it shows may be folded later. */
export function addMessage(task: Pick<AgentState, "messages" | "views" | "step">, message: TaskMessage): void {
  task.messages.push(message);
  if (isView(message)) task.views.open.push({ message, step: task.step });
}

function isView(message: TaskMessage): message is View["message"] {
  return message.role === "observation" || (message.role === "tool" && message.images !== undefined);
}

/**
 * What the next observation may build upon: the newest one, if the conversation has it and those it
 * continues, and if these are few.
 */
export function lastSeen({ open }: Views): { readonly text: string | undefined; readonly mark: string | undefined } {
  const seen = open.flatMap(({ message }) => (message.role === "observation" ? [message] : []));
  const last = seen.at(-1);
  return { text: last?.text, mark: markToContinue(seen) };
}

function markToContinue(seen: readonly SeenObservation[]): string | undefined {
  const newest = seen.findLast(({ mark }) => mark !== undefined)?.mark;
  let wanted = newest;
  let changes = 0;
  for (const one of seen.toReversed()) {
    if (one.mark === undefined || one.mark !== wanted) continue;
    if (one.since === undefined) return newest;
    changes += messageTokens(one);
    if (changes > mostChanges) return undefined;
    wanted = one.since;
  }
  return undefined;
}

/**
 * Folds the views that are out of date, all at once and seldom: what follows the first of them is no
 * longer in the provider's cache then, so it waits until it saves as many tokens in each later
 * prompt as it costs once.
 */
export function foldViews(task: AgentState): void {
  const { views } = task;
  const stale = staleViews(task);
  if (stale.length <= views.weighed) return;
  const folds = new Map<TaskMessage, TaskMessage>(stale.map(({ message }) => [message, folded(message)]));
  const saved = sizeOf(stale.map(({ message }) => message)) - sizeOf([...folds.values()]);
  const first = task.messages.lastIndexOf(stale[0]?.message as TaskMessage);
  if (saved < sizeOf(task.messages.slice(first)) - saved) {
    views.weighed = stale.length;
    return;
  }
  task.messages = task.messages.map((message) => folds.get(message) ?? message);
  task.measured = { ...task.measured, tokens: Math.max(task.fixedTokens, task.measured.tokens - textSaved(folds)) };
  views.open = views.open.filter(({ message }) => !folds.has(message));
  views.weighed = 0;
}

/** Forgets the views that a compaction removed. */
export function keepViews({ views, messages }: AgentState): void {
  const left = new Set(messages);
  views.open = views.open.filter(({ message }) => left.has(message));
  views.weighed = 0;
}

/**
 * Observations before the newest that is complete in itself; images of tools before the newest, or
 * some turns old.
 */
function staleViews({ views, step }: AgentState): readonly View[] {
  const { open } = views;
  const whole = open.findLastIndex(({ message }) => message.role === "observation" && message.since === undefined);
  const image = open.findLastIndex(({ message }) => message.role === "tool");
  return open.filter(({ message, step: shown }, at) =>
    message.role === "observation" ? at < whole : at < image || step - shown > turnsShown,
  );
}

/** What stays of a view that is out of date. */
function folded(message: View["message"]): TaskMessage {
  const { images: _, ...rest } = message;
  if (rest.role === "tool") return { ...rest, text: `${rest.text}\n[The image is no longer shown.]` };
  return { role: "observation", text: rest.brief ?? "" };
}

function sizeOf(messages: readonly TaskMessage[]): number {
  return messages.reduce((sum, message) => sum + (isView(message) ? viewTokens(message) : messageTokens(message)), 0);
}

/**
 * What folding saves of observations' text. Images are left out: how many tokens they have is the
 * provider's to say, and older journals never counted them here.
 */
function textSaved(folds: ReadonlyMap<TaskMessage, TaskMessage>): number {
  return [...folds].reduce(
    (sum, [from, to]) => sum + (from.role === "observation" ? messageTokens(from) - messageTokens(to) : 0),
    0,
  );
}
