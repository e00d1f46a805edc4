import { factsText } from "./agent-line.ts";
import { conduct } from "./conduct.ts";
import type { CliContext } from "./context.ts";
import { exitCodes } from "./exit-code.ts";
import { openSession } from "./open-session.ts";
import { tellOutcome } from "./outcome.ts";

/** The options of `chat`. */
export type ChatOptions = {
  readonly agent: string;
  /** A flow to talk with in place of an agent. */
  readonly flow?: string;
  readonly context?: string;
  readonly config?: string;
};

/**
 * A conversation: every line is a task in the same context, or the answer to the question of the one that waits. Ends with `/exit` or when
 * input ends; Ctrl-C cancels the task at hand and goes on. Reads lines from a pipe too.
 */
export async function chatCommand(options: ChatOptions, context: CliContext): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const session = await openSession(options, config, context);
  try {
    const { client } = session;
    terminal.say(`${factsText(client.facts)}\n/new begins anew, /exit ends.`);
    let contextId = options.context;
    let waiting: string | undefined;
    for (;;) {
      const line = (await terminal.ask(waiting === undefined ? "You" : "Your answer"))?.trim();
      if (line === undefined || line === "/exit") return exitCodes.ok;
      if (line === "/new") {
        contextId = undefined;
        waiting = undefined;
      }
      if (line === "" || line === "/new") continue;
      const message = { text: line, contextId, taskId: waiting };
      const outcome = await conduct((signal) => client.send(message, { signal }), { client, terminal, json: false });
      contextId = outcome.contextId || contextId;
      waiting = outcome.state === "input-required" ? outcome.taskId : undefined;
      if (waiting === undefined) await tellOutcome(outcome, context, { source: client });
    }
  } finally {
    await session.close();
  }
}
