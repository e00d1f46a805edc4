import type { ToolCall } from "../../core/model.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { parseArguments } from "../../models/arguments.ts";
import { estimateText } from "../../models/tokens.ts";
import type { TaskMessage } from "../task/agent-state.ts";
import { boundText, wholeIn } from "../task/bound-text.ts";
import { isUsers } from "../task/user-words.ts";

/** A conversation as text to summarize, and the files with the full text of what was cut. */
export type Transcript = { readonly text: string; readonly files: readonly string[] };

const charactersPerToken = 3;
const shortestEntry = 300;
const separator = "\n\n";
/** Characters of about the longest summary; only one made without a model may be longer. */
const longestSummary = 8_000;

/** The heading above the files in a summary; code copies them from one summary to the next. */
export const filesHeading = "Files that hold whole what was cut, for you to open again:";

/**
 * The older messages as text, after the user's words verbatim. An earlier summary stays whole; the
 * rest shares the remaining room. A cut result names the file with its full text: the one it was
 * stored in before, or a new one.
 */
export async function transcript(
  older: readonly TaskMessage[],
  words: readonly TaskMessage[],
  contextWindow: number,
  { spill, tools }: { readonly spill: Workspace["spill"]; readonly tools: readonly Tool[] },
): Promise<Transcript> {
  const userText = words.filter(isUsers).map(entry).join("\n\n");
  const wholes = older.map(entry);
  const room = Math.floor(contextWindow * 0.6 * perToken([userText, ...wholes].join("\n")));
  const said = await cut(userText, Math.floor(room * 0.6));
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
  const viewed = viewedFiles(older, tools);
  for (const [n, message] of older.entries()) {
    const whole = wholes[n] ?? "";
    const bound = message.role === "summary" ? before : limit;
    if (whole.length <= bound) {
      entries.push(whole);
      const isResult = message.role === "tool" && !viewed.has(message.callId);
      const path = isResult ? wholeIn(message.text) : undefined;
      if (path !== undefined) files.push(named(path, whole));
    } else if (message.role !== "user" && message.role !== "tool") entries.push(await cut(whole, bound));
    else if (message.role === "tool" && viewed.has(message.callId)) {
      const path = viewed.get(message.callId) ?? "";
      files.push(`${path}: as it is now`);
      entries.push(await boundText(whole, limit, async () => path));
    } else {
      const path =
        message.role === "user"
          ? await spill("message.txt", whole)
          : (wholeIn(message.text) ?? (await spill(`${message.name}.txt`, message.text)));
      files.push(named(path, whole));
      entries.push(await boundText(whole, limit, async () => path));
    }
  }
  const happened = await cut(entries.join(separator), left);
  return { text: `THE USER'S MESSAGES, WORD FOR WORD\n\n${said}\n\nTHE TRANSCRIPT\n\n${happened}`, files };
}

/** The line that names the file of a result that was cut, now or when it came. */
function named(path: string, whole: string): string {
  return `${path}: ${whole.slice(0, 80).replaceAll(/\s+/g, " ").toWellFormed()}`;
}

/** Characters per token: fewer in scripts such as Chinese, where a character is a token or more. */
function perToken(text: string): number {
  return Math.min(charactersPerToken, text.length / Math.max(1, estimateText(text)));
}

/**
 * The length to cut each text to so that all fit together; shorter texts leave their unused room to
 * longer ones.
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
 * A summary made without a model: the text of earlier summaries, and the beginning of each other
 * message.
 */
export async function listing(messages: readonly TaskMessage[]): Promise<string> {
  const before = messages.flatMap((message) => (message.role === "summary" ? [ownWords(message.text)] : []));
  const lines = messages.filter(({ role }) => role !== "summary").map((message) => entry(message).slice(0, 200));
  return [await cut(before.join("\n"), longestSummary), ...lines.slice(-60)].join("\n").trim();
}

/** A summary without its list of files, which is added again. */
function ownWords(summary: string): string {
  return (summary.split(filesHeading)[0] ?? "").trimEnd();
}

/** The file each call viewed, by call id; the file itself can be opened again. */
function viewedFiles(messages: readonly TaskMessage[], tools: readonly Tool[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  return new Map(
    calls.flatMap((call) => {
      const path = viewedBy(call, tools);
      return path === undefined || path === "" ? [] : [[call.id, path] as const];
    }),
  );
}

function viewedBy(call: ToolCall, tools: readonly Tool[]): string | undefined {
  const parsed = parseArguments(call.arguments);
  return parsed.ok ? tools.find(({ name }) => name === call.name)?.views?.(parsed.value) : undefined;
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
    case "observation":
      return `SEEN: ${message.brief ?? message.text}`;
    case "tool":
      return `RESULT of ${message.name}${message.isError ? " (error)" : ""}: ${message.text}`;
  }
}

function cut(text: string, limit: number): Promise<string> {
  return boundText(text, limit, async () => "the transcript");
}
