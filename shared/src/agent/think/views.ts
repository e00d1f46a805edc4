import { isView } from "../task/add-message.ts";
import type { AgentState, SeenObservation, TaskMessage, View, Views } from "../task/agent-state.ts";
import { messageTokens, viewTokens } from "./prompt-tokens.ts";

/**
 * For how many turns an image of a tool is worth its tokens; by then the model has described it.
 */
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

/** A conversation with views folded or not, its views then, and how many tokens were saved. */
export type Folded = { readonly messages: TaskMessage[]; readonly views: Views; readonly saved: number };

/**
 * The conversation with the views folded that are out of date once the model has `next`, all of
 * them or none. What follows the first of them is no longer in the provider's cache then, so
 * folding must save half of that in each later prompt: a page is folded when the agent leaves it,
 * or with the next ones if it was small.
 */
export function foldViews(
  { messages, views, step }: Pick<AgentState, "messages" | "views" | "step">,
  next: SeenObservation | undefined,
): Folded {
  const stale = staleViews(views, step, next);
  const [oldest] = stale;
  if (oldest === undefined || stale.length <= views.weighed) return { messages, views, saved: 0 };
  const folds = foldsOf(stale, messages);
  const saved = sizeOf([...folds.keys()]) - sizeOf([...folds.values()]);
  const after = sizeOf(messages.slice(messages.lastIndexOf(oldest.message))) - saved;
  if (2 * saved < after) return { messages, views: { ...views, weighed: stale.length }, saved: 0 };
  return {
    messages: messages.map((message) => folds.get(message) ?? message),
    views: { open: views.open.filter(({ message }) => !folds.has(message)), weighed: 0 },
    saved,
  };
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
function staleViews({ open }: Views, step: number, next: SeenObservation | undefined): readonly View[] {
  const isWhole = ({ message }: View) => message.role === "observation" && message.since === undefined;
  const whole = next !== undefined && next.since === undefined ? open.length : open.findLastIndex(isWhole);
  const image = open.findLastIndex(({ message }) => message.role === "tool");
  return open.filter(({ message, step: shown }, at) =>
    message.role === "observation" ? at < whole : at < image || step - shown > turnsShown,
  );
}

/** What stays of views that are out of date; what the conversation has already is not repeated. */
function foldsOf(stale: readonly View[], messages: readonly TaskMessage[]): Map<TaskMessage, TaskMessage> {
  const told = new Set(messages.flatMap((message) => (message.role === "observation" ? [message.text] : [])));
  return new Map(
    stale.map(({ message }): [TaskMessage, TaskMessage] => {
      const { images: _, ...rest } = message;
      if (rest.role === "tool") return [message, { ...rest, text: `${rest.text}\n[The image is no longer shown.]` }];
      const { brief = "" } = rest;
      const text = told.has(brief) ? "" : brief;
      told.add(brief);
      return [message, { role: "observation", text }];
    }),
  );
}

function sizeOf(messages: readonly TaskMessage[]): number {
  return messages.reduce((sum, message) => sum + (isView(message) ? viewTokens(message) : messageTokens(message)), 0);
}
