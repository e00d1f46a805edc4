import { type ModelScript, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";

type ScriptFunction = Extract<ModelScript, (...arguments_: never[]) => unknown>;
type ChatRequest = Parameters<ScriptFunction>[0];
type Reply = ReturnType<ScriptFunction>;

/**
 * One move of a play: a call, a text, or a function of what the conversation shows, newest first,
 * and the newest result.
 */
export type Move = Reply | ((seen: string, result: string) => Reply);

/** A call, as a move's reply. */
export const call = (name: string, args: object): Reply => ({ calls: [{ name, args }] });

/**
 * The ref of an element, by the beginning of its line: `button "Next"`; the newest one, on the page
 * that was shown last.
 */
export function refOf(seen: string, line: string): string {
  const lines = seen.split("\n").filter((one) => one.includes(line));
  const found = lines.find((one) => /^[-+~] /.test(one.trimStart())) ?? "";
  const ref = /\[(e\d+)\]/.exec(found.slice(found.indexOf(line)))?.[1];
  if (ref === undefined) throw new Error(`no ${line} in:\n${seen}`);
  return ref;
}

/** A call on the element of that line. */
export const on =
  (name: string, line: string, args: object = {}) =>
  (seen: string) =>
    call(name, { ref: refOf(seen, line), ...args });

/**
 * A model that plays each task's moves, chosen by a word of its goal, one per turn, and ends after
 * the last. `tails` are what each prompt shows.
 */
export async function startPlays(plays: Readonly<Record<string, readonly Move[]>>) {
  const faults: string[] = [];
  const tails: string[] = [];
  const model = await startScriptedModel((request) => {
    const { name, turn, seen, result } = situation(request, Object.keys(plays));
    tails.push(seen);
    const move = plays[name]?.[turn];
    if (move === undefined) return { text: "(the play is over)" };
    try {
      return typeof move === "function" ? move(seen, result) : move;
    } catch (error) {
      faults.push(`${name} ${turn}: ${error instanceof Error ? error.message : error}`);
      return { text: "(the play went wrong)" };
    }
  });
  return { model, faults, tails };
}

/** What is on the page, newest first: the newest whole page and what changed since. */
function seenIn(texts: readonly string[]): string {
  const whole = texts.findLastIndex((shown) => /^(?:Page: |No page is open)(?!.*\nLoaded anew)/m.test(shown));
  return texts.slice(Math.max(0, whole)).toReversed().join("\n");
}

function situation({ messages }: ChatRequest, names: readonly string[]) {
  const text = (message: (typeof messages)[number] | undefined) =>
    typeof message?.content === "string"
      ? message.content
      : (message?.content ?? []).map((part) => part.text ?? "").join("\n");
  const goal = messages.findLastIndex(
    (message) => message.role === "user" && names.some((name) => text(message).startsWith(name)),
  );
  const name = names.find((one) => text(messages[goal]).startsWith(one)) ?? "";
  const own = messages.slice(goal + 1);
  return {
    name,
    turn: own.filter(({ role }) => role === "assistant").length,
    seen: seenIn(
      messages
        .slice(1)
        .filter(({ role }) => role === "tool" || role === "user")
        .map(text),
    ),
    result: text(own.findLast(({ role }) => role === "tool")),
  };
}
