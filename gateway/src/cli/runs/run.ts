import type { Config } from "manyhands/internal/config/config";
import type { CliContext } from "../../session/context.ts";
import { openSession } from "../../session/open-session.ts";
import type { AgentClient, OutgoingMessage } from "../../tasks/agent-client.ts";
import { factsText } from "../../terminal/agent-line.ts";
import { exitCodeOf } from "../../terminal/exit-code.ts";
import { tellOutcome } from "../../terminal/outcome.ts";
import { renderTask } from "../../terminal/render-task.ts";
import { readSchema, readTask } from "./read-task.ts";
import { type Spoken, tellWhatNext } from "./what-next.ts";

/** The options of `run`, as the command line gives them. */
export type RunOptions = {
  readonly agent?: string;
  readonly json?: boolean;
  readonly budgetUsd?: number;
  readonly file?: readonly string[];
  readonly schema?: string;
  readonly context?: string;
  readonly config?: string;
};

/**
 * Gives an agent one task and shows it to its end; the person at the terminal answers the agent's
 * questions. Returns the exit code: 0 completed, 1 failed, 3 rejected or waiting for an answer with
 * nobody to ask, 130 canceled.
 */
export async function runOneTask(task: string, options: RunOptions, context: CliContext): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const given = await readTask(task, options.file ?? [], context);
  const outputSchema = await readSchema(options.schema, context.cwd);
  const session = await openSession(options, config, context);
  try {
    const first = { ...given, contextId: options.context, budgetUsd: options.budgetUsd, outputSchema };
    return await runTask(session.client, first, { ...options, passing: session.passing }, config, context);
  } finally {
    await session.close();
  }
}

/**
 * Gives a task to the client's agent or flow and shows it to its end; returns the exit code, as
 * `runOneTask` does.
 */
export async function runTask(
  client: AgentClient,
  first: OutgoingMessage,
  { json = false, ...spoken }: Spoken & { readonly json?: boolean },
  config: Config,
  context: CliContext,
): Promise<number> {
  const { terminal } = context;
  terminal.say(factsText(client.facts));
  let outcome = await renderTask((signal) => client.send(first, { signal }), { client, terminal, json });
  while (outcome.state === "input-required" && terminal.interactive) {
    const answer = await terminal.ask("Your answer");
    if (answer === undefined) break;
    const { taskId, contextId, view } = outcome;
    const next = { text: answer, taskId, contextId };
    const more = await renderTask((signal) => client.send(next, { signal }), { client, terminal, json, view });
    outcome = { ...more, artifacts: [...outcome.artifacts, ...more.artifacts] };
  }
  await tellOutcome(outcome, context, { source: client, json });
  if (!json) tellWhatNext(outcome, spoken, config, context);
  return exitCodeOf(outcome.state);
}
