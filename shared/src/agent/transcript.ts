import type { Workspace } from "../workspace/workspace.ts";
import { boundText } from "./bound-text.ts";
import { isUsers } from "./pinned.ts";
import type { TaskMessage } from "./task-state.ts";

/** A conversation in words, for whoever sums it up, and where what was cut in it is whole. */
export type Transcript = { readonly text: string; readonly files: readonly string[] };

const charactersPerToken = 3;
const longestEntry = 2_000;
const shortestEntry = 300;

/**
 * The older messages in words, after what the user said word for word. A result that is cut names the file that holds it whole: the one it was
 * kept in before, or one that is written now.
 */
export async function transcript(
  older: readonly TaskMessage[],
  words: readonly TaskMessage[],
  contextWindow: number,
  spill: Workspace["spill"],
): Promise<Transcript> {
  const room = Math.floor(contextWindow * charactersPerToken * 0.6);
  const said = await cut(words.filter(isUsers).map(entry).join("\n\n"), Math.floor(room * 0.6));
  const left = room - said.length;
  const limit = Math.max(shortestEntry, Math.min(longestEntry, Math.floor(left / Math.max(1, older.length)) - 2));
  const entries: string[] = [];
  const files: string[] = [];
  for (const message of older) {
    const whole = entry(message);
    if (whole.length <= limit) entries.push(whole);
    else if (message.role === "summary" || message.role === "assistant") entries.push(await cut(whole, limit));
    else {
      const path =
        message.role === "user"
          ? await spill("message.txt", whole)
          : (wholeIn(message) ?? (await spill(`${message.name}.txt`, message.text)));
      files.push(`${path}: ${whole.slice(0, 80).replaceAll(/\s+/g, " ").toWellFormed()}`);
      entries.push(await boundText(whole, limit, async () => path));
    }
  }
  const happened = await cut(entries.join("\n\n"), left);
  return { text: `THE USER'S MESSAGES, WORD FOR WORD\n\n${said}\n\nTHE TRANSCRIPT\n\n${happened}`, files };
}

/** What can be said of messages without a model: how each begins. */
export function listing(messages: readonly TaskMessage[]): string {
  const lines = messages.map((message) => entry(message).slice(0, 200));
  return lines.slice(-60).join("\n");
}

/** The file that a result was kept in when it came, being too long. */
function wholeIn({ text }: Extract<TaskMessage, { role: "tool" }>): string | undefined {
  return /; the whole is in (\.manyhands\/output\/[^\s\]]+)\]/.exec(text)?.[1];
}

function entry(message: TaskMessage): string {
  switch (message.role) {
    case "user":
      return `USER: ${message.parts.map((part) => (part.type === "text" ? part.text : `[${part.type}${"name" in part ? ` ${part.name}` : ""}]`)).join("\n")}`;
    case "summary":
      return `EARLIER SUMMARY: ${message.text}`;
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
