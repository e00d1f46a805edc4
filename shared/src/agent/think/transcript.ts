import * as z from "zod";
import type { Workspace } from "../../core/workspace.ts";
import { parseArguments } from "../../models/arguments.ts";
import { estimateText } from "../../models/tokens.ts";
import type { TaskMessage } from "../task/agent-state.ts";
import { boundText } from "../task/bound-text.ts";
import { isUsers } from "../task/user-words.ts";

/** A conversation in words, for whoever sums it up, and where what was cut in it is whole. */
export type Transcript = { readonly text: string; readonly files: readonly string[] };

const charactersPerToken = 3;
const shortestEntry = 300;
const separator = "\n\n";
/** About what the longest summary has; only one that was made without a model grows beyond. */
const longestSummary = 8_000;

/**
 * What stands before the files that a summary names; they are carried on from one summary to the
 * next without a model.
 */
export const filesHeading = "Files that hold whole what was cut, for you to open again:";

/**
 * The older messages in words, after what the user said word for word. A summary of before stays
 * whole, the rest shares what room is left. A result that is cut names the file that holds it
 * whole: the one it was kept in before, or one that is written now.
 */
export async function transcript(
  older: readonly TaskMessage[],
  words: readonly TaskMessage[],
  contextWindow: number,
  spill: Workspace["spill"],
): Promise<Transcript> {
  const told = words.filter(isUsers).map(entry).join("\n\n");
  const wholes = older.map(entry);
  const room = Math.floor(contextWindow * 0.6 * perToken([told, ...wholes].join("\n")));
  const said = await cut(told, Math.floor(room * 0.6));
  const left = room - said.length;
  const before = Math.min(longestSummary, Math.floor(left / 2));
  const taken = wholes.reduce(
    (sum, { length }, n) => sum + (older[n]?.role === "summary" ? Math.min(length, before) : 0),
    0,
  );
  const rest = wholes.filter((_, n) => older[n]?.role !== "summary").map(({ length }) => length + separator.length);
  const limit = Math.max(shortestEntry, evenLimit(rest, left - taken - separator.length) - separator.length);
  const entries: string[] = [];
  const files: string[] = [];
  const viewed = viewedFiles(older);
  for (const [n, message] of older.entries()) {
    const whole = wholes[n] ?? "";
    const bound = message.role === "summary" ? before : limit;
    if (whole.length <= bound) entries.push(whole);
    else if (message.role === "summary" || message.role === "assistant") entries.push(await cut(whole, bound));
    else if (message.role === "tool" && viewed.has(message.callId)) {
      const path = viewed.get(message.callId) ?? "";
      files.push(`${path}: as it is now`);
      entries.push(await boundText(whole, limit, async () => path));
    } else {
      const path =
        message.role === "user"
          ? await spill("message.txt", whole)
          : (wholeIn(message) ?? (await spill(`${message.name}.txt`, message.text)));
      files.push(`${path}: ${whole.slice(0, 80).replaceAll(/\s+/g, " ").toWellFormed()}`);
      entries.push(await boundText(whole, limit, async () => path));
    }
  }
  const happened = await cut(entries.join(separator), left);
  return { text: `THE USER'S MESSAGES, WORD FOR WORD\n\n${said}\n\nTHE TRANSCRIPT\n\n${happened}`, files };
}

/** Fewer where a character is a token of its own or more, as in Chinese. */
function perToken(text: string): number {
  return Math.min(charactersPerToken, text.length / Math.max(1, estimateText(text)));
}

/**
 * The length to cut to, so that all together find room: what is shorter leaves what it does not
 * need to the longer.
 */
function evenLimit(lengths: readonly number[], room: number): number {
  let left = room;
  for (const [n, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - n));
    if (length > share) return share;
    left -= length;
  }
  return room;
}

/**
 * What can be said of messages without a model: what a summary of before says, and how each of the
 * others begins.
 */
export async function listing(messages: readonly TaskMessage[]): Promise<string> {
  const before = messages.flatMap((message) => (message.role === "summary" ? [ownWords(message.text)] : []));
  const lines = messages.filter(({ role }) => role !== "summary").map((message) => entry(message).slice(0, 200));
  return [await cut(before.join("\n"), longestSummary), ...lines.slice(-60)].join("\n").trim();
}

/** A summary without the files, which are named after it anew. */
function ownWords(summary: string): string {
  return (summary.split(filesHeading)[0] ?? "").trimEnd();
}

/** By the id of the call, the file that a result shows: itself what there is to open again. */
function viewedFiles(messages: readonly TaskMessage[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  return new Map(
    calls.flatMap((call) => {
      const input = call.name === "str_replace_editor" ? viewing.safeParse(parseArguments(call.arguments)) : undefined;
      return input?.success === true ? [[call.id, input.data.value.path] as const] : [];
    }),
  );
}

const viewing = z.object({ value: z.looseObject({ command: z.literal("view"), path: z.string().min(1) }) });

/** The file that a result was kept in when it came, being too long. */
function wholeIn({ text }: Extract<TaskMessage, { role: "tool" }>): string | undefined {
  return /; the whole is in (\.manyhands\/output\/[^\s\]]+)\]/.exec(text)?.[1];
}

function entry(message: TaskMessage): string {
  switch (message.role) {
    case "user":
      return `USER: ${message.parts.map((part) => (part.type === "text" ? part.text : `[${part.type}${"name" in part ? ` ${part.name}` : ""}]`)).join("\n")}`;
    case "summary":
      return `EARLIER SUMMARY: ${ownWords(message.text)}`;
    case "assistant":
      return [`AGENT: ${message.text}`, ...message.toolCalls.map((call) => `CALL ${call.name} ${call.arguments}`)].join(
        "\n",
      );
    case "tool":
      return `RESULT of ${message.name}${message.isError ? " (error)" : ""}: ${message.text}`;
  }
}

function cut(text: string, limit: number): Promise<string> {
  return boundText(text, limit, async () => "the transcript");
}
