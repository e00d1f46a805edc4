import { addMessage, isView } from "../task/add-message.ts";
import type { AgentState, OpenView, SeenObservation, TaskMessage, Views } from "../task/agent-state.ts";
import { shortenAgain } from "../task/bound-text.ts";
import { messageTokens, viewTokens } from "./prompt-tokens.ts";

/**
 * For how many turns an image of a tool is worth its tokens; by then the model has described it.
 */
const imageTurns = 5;

/**
 * Tokens of changes after which an observation is made whole again, so that the changes can be
 * folded.
 */
const maxChanges = 3_000;

/**
 * For how many turns a long output that a file holds whole is worth its tokens, and how many
 * characters of it stay.
 */
const outputTurns = 12;
const foldedCharacters = 1_500;

/**
 * A conversation when a task starts, and its views. The turns of earlier tasks count on: what was
 * folded there for its age is folded here too.
 */
export function withViews(earlier: readonly TaskMessage[]): Pick<AgentState, "messages" | "views"> {
  const task: Pick<AgentState, "messages" | "views" | "turn"> = {
    messages: [],
    views: { open: [], weighed: 0 },
    turn: -earlier.filter(isTurn).length,
  };
  for (const message of earlier) {
    if (isTurn(message)) task.turn++;
    addMessage(task, message);
  }
  return task;
}

function isTurn({ role }: TaskMessage): boolean {
  return role === "assistant";
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
    if (changes > maxChanges) return undefined;
    wanted = one.since;
  }
  return undefined;
}

/** A conversation with views folded or not, its views then, and how many tokens were saved. */
export type Folded = { readonly messages: TaskMessage[]; readonly views: Views; readonly saved: number };

/**
 * The conversation with the views folded that are out of date once the model has `next`: the newest
 * of them, as many as pay. What follows the first that is folded is no longer in the provider's
 * cache then, so folding must save half of that in each later prompt: a page is folded when the
 * agent leaves it, or with the next ones if it was small. What was never sent folds for nothing.
 */
export function foldViews(
  { messages, views, turn, measured }: Pick<AgentState, "messages" | "views" | "turn" | "measured">,
  next: SeenObservation | undefined,
): Folded {
  const stale = staleViews(views, turn, next);
  if (stale.length <= views.weighed) return { messages, views, saved: 0 };
  const { from, saved } = worthFolding(foldsOf(stale, messages), messages, measured.messages);
  const folds = foldsOf(
    stale.filter(({ message }) => from.has(message)),
    messages,
  );
  if (folds.size === 0) return { messages, views: { ...views, weighed: stale.length }, saved: 0 };
  return {
    messages: messages.map((message) => folds.get(message) ?? message),
    views: { open: views.open.filter(({ message }) => !folds.has(message)), weighed: stale.length - folds.size },
    saved,
  };
}

/** The newest of these folds, as many as pay; only the first `sent` messages may be cached. */
function worthFolding(
  folds: ReadonlyMap<TaskMessage, TaskMessage>,
  messages: readonly TaskMessage[],
  sent: number,
): { readonly from: ReadonlySet<TaskMessage>; readonly saved: number } {
  const weighed: TaskMessage[] = [];
  let best = { count: 0, saved: 0 };
  let saved = 0;
  let after = 0;
  for (let at = messages.length - 1; at >= 0 && weighed.length < folds.size; at--) {
    const message = messages[at];
    if (message === undefined) break;
    const fold = folds.get(message);
    after += sizeOf(fold ?? message);
    if (fold === undefined) continue;
    saved += sizeOf(message) - sizeOf(fold);
    weighed.push(message);
    if (2 * saved >= after || at >= sent) best = { count: weighed.length, saved };
  }
  return { from: new Set(weighed.slice(0, best.count)), saved: best.saved };
}

/** Forgets the views that a compaction removed. */
export function keepViews({ views, messages }: AgentState): void {
  const left = new Set(messages);
  views.open = views.open.filter(({ message }) => left.has(message));
  views.weighed = 0;
}

/**
 * Observations before the newest that is complete in itself; images of tools of turns before the
 * newest with one, or some turns old; results before a later one that has all of what they show;
 * long outputs after some turns.
 */
function staleViews({ open }: Views, turn: number, next: SeenObservation | undefined): readonly OpenView[] {
  const isWhole = ({ message }: OpenView) => message.role === "observation" && message.since === undefined;
  const whole = next !== undefined && next.since === undefined ? open.length : open.findLastIndex(isWhole);
  const pictured = open.findLast(({ message }) => message.role === "tool" && message.images !== undefined)?.turn ?? 0;
  const newest = new Map(
    open.flatMap(({ message }, at) =>
      message.role === "tool" && message.shows?.whole !== undefined ? [[message.shows.of, at]] : [],
    ),
  );
  return open.filter(({ message, turn: shown }, at) => {
    if (message.role === "observation") return at < whole;
    if (message.images !== undefined) return shown < pictured || turn - shown > imageTurns;
    if (message.shows === undefined) return turn - shown > outputTurns && message.text.length > foldedCharacters;
    return message.shows.brief !== undefined && at < (newest.get(message.shows.of) ?? 0);
  });
}

/** What stays of views that are out of date; what the conversation has already is not repeated. */
function foldsOf(stale: readonly OpenView[], messages: readonly TaskMessage[]): Map<TaskMessage, TaskMessage> {
  const told = new Set(messages.flatMap((message) => (message.role === "observation" ? [message.text] : [])));
  return new Map(
    stale.map(({ message }): [TaskMessage, TaskMessage] => {
      if (message.role === "tool") return [message, foldedResult(message)];
      const { images: _, ...rest } = message;
      const { brief = "" } = rest;
      const text = told.has(brief) ? "" : brief;
      told.add(brief);
      return [message, { role: "observation", text }];
    }),
  );
}

function foldedResult(result: Extract<OpenView["message"], { role: "tool" }>): TaskMessage {
  const { images, shows, ...rest } = result;
  if (images !== undefined) return { ...rest, text: `${rest.text}\n[The image is no longer shown.]` };
  return { ...rest, text: shows?.brief ?? shortenAgain(rest.text, foldedCharacters) };
}

function sizeOf(message: TaskMessage): number {
  return isView(message) ? viewTokens(message) : messageTokens(message);
}
