import { AppError } from "manyhands/internal/core/errors";
import type { CliContext } from "../../session/context.ts";
import { openSession } from "../../session/open-session.ts";
import type { OutgoingFile } from "../../tasks/agent-client.ts";
import { factsText } from "../../terminal/agent-line.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { machineFailure } from "../../terminal/machine-failure.ts";
import { tellOutcome } from "../../terminal/outcome.ts";
import { renderTask } from "../../terminal/render-task.ts";
import { safeText } from "../../terminal/safe-text.ts";
import { sizeText } from "../../terminal/totals.ts";
import { readFiles } from "./read-task.ts";
import { chatOn } from "./what-next.ts";

/** The options of `chat`. */
type ChatOptions = {
  readonly agent?: string;
  /** A flow to talk with instead of an agent. */
  readonly flow?: string;
  readonly context?: string;
  readonly config?: string;
};

const help = [
  "/file PATH   attach a file to your next message",
  "/new         start a new conversation",
  "/help        show this help",
  "/exit        end, and show how to continue later; so do Ctrl-D, and Ctrl-C twice",
  "Esc          cancels what is typed, or the task that is being done",
].join("\n");

/** The state of a conversation. */
type Chat = {
  contextId: string | undefined;
  /** The task that waits for an answer. */
  waiting: string | undefined;
  /** Attached to the next message. */
  files: readonly OutgoingFile[];
};

/**
 * A conversation: every line is a task in the same context, or the answer to the task that waits; a
 * line that starts with a slash is a command to the chat itself. Ends with `/exit`, when input
 * ends, or with Ctrl-C twice where a line is typed; Esc and Ctrl-C cancel the current task only.
 * Reads lines from a pipe too.
 */
export async function chatCommand(options: ChatOptions, context: CliContext): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const session = await openSession(options, config, context);
  try {
    const { client } = session;
    terminal.say(`${factsText(client.facts)}\n/help lists the commands, /exit ends.`);
    const chat: Chat = { contextId: options.context, waiting: undefined, files: [] };
    for (;;) {
      const line = (
        await terminal.ask(chat.waiting === undefined ? "You" : "Your answer", { inConversation: true })
      )?.trim();
      if (line === undefined || line === "/exit") break;
      if (line === "" || (await runLine(line, chat, context))) continue;
      const message = { text: line, contextId: chat.contextId, taskId: chat.waiting, files: chat.files };
      const shown = { client, terminal, cancelsOnEscape: true };
      const outcome = await renderTask((signal) => client.send(message, { signal }), shown);
      chat.files = [];
      chat.contextId = outcome.contextId || chat.contextId;
      chat.waiting = outcome.state === "input-required" ? outcome.taskId : undefined;
      if (chat.waiting === undefined) await tellOutcome(outcome, context, { source: client });
    }
    if (chat.contextId !== undefined) terminal.say(chatOn(chat.contextId, options, config));
    return exitCodes.ok;
  } finally {
    await session.close();
  }
}

/** Runs a command to the chat itself; false if the line is for the agent. */
async function runLine(line: string, chat: Chat, { cwd, terminal }: CliContext): Promise<boolean> {
  const [, command, rest = ""] = /^\/(\w+)(?:\s+(.*))?$/.exec(line) ?? [];
  if (command === undefined) return false;
  if (command === "file") await attach(rest, chat, cwd, terminal);
  else if (command === "new") {
    Object.assign(chat, { contextId: undefined, waiting: undefined, files: [] });
    terminal.say("Your next message starts a new conversation.");
  } else terminal.say(command === "help" ? help : `Unknown command /${command}.\n${help}`);
  return true;
}

async function attach(path: string, chat: Chat, cwd: string, { say }: CliContext["terminal"]): Promise<void> {
  try {
    if (path === "") throw new AppError("invalid_input", "Name a file: /file PATH.");
    const read = await readFiles([path], cwd);
    chat.files = [...chat.files, ...read];
    for (const { name, bytes } of read)
      say(`${safeText(name)} (${sizeText(bytes.byteLength)}) is attached to your next message.`);
  } catch (error) {
    const told = error instanceof AppError ? error.message : machineFailure(error);
    if (told === undefined) throw error;
    say(told);
  }
}
