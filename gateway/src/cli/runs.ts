import type { AgentName } from "@manyhands/shared/config/agents";
import type { Config } from "@manyhands/shared/config/config";
import { AppError } from "@manyhands/shared/errors";
import type { AgentClient, TaskSummary } from "../tasks/agent-client.ts";
import { storedClient } from "../tasks/stored-client.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { isUp, openAgent } from "./agent-session.ts";
import { conduct } from "./conduct.ts";
import type { CliContext } from "./context.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { tellOutcome } from "./outcome.ts";

/** The options every `runs` command takes. */
export type RunsOptions = { readonly agent: AgentName; readonly json: boolean; readonly config: string | undefined };

/** Lists the newest tasks: from the agent's server, or from the store when no server is up. */
export async function listRuns(
  options: RunsOptions & { readonly limit: number },
  context: CliContext,
): Promise<number> {
  return reading(options, context, async (client) => {
    const tasks = await client.list({ limit: options.limit, signal: AbortSignal.timeout(15_000) });
    const { terminal } = context;
    if (options.json) terminal.out(`${JSON.stringify(tasks, undefined, 2)}\n`);
    else if (tasks.length === 0) terminal.out("There are no runs yet.\n");
    else for (const task of tasks) terminal.out(`${rowOf(task, terminal.style.columns)}\n`);
    return exitCodes.ok;
  });
}

/** Shows a task from its first event to where it stands, and, with `follow`, on to its end. */
export async function showRun(
  id: string,
  options: RunsOptions & { readonly follow: boolean },
  context: CliContext,
): Promise<number> {
  const show = async (client: AgentClient, config: Config) => {
    const shown = { client, terminal: context.terminal, json: options.json };
    const outcome = await conduct((signal) => client.watch(id, { after: 0, follow: options.follow, signal }), shown);
    await tellOutcome(outcome, context, { agentUrl: client.url, token: config.server.token, json: options.json });
    return options.follow ? exitCodeOf(outcome.state) : exitCodes.ok;
  };
  return options.follow ? acting(options, context, show) : reading(options, context, show);
}

/** Cancels a task; a server is started for it when none is up, since only a server ends what runs. */
export async function cancelRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return acting(options, context, async (client) => {
    await client.cancel(id, { signal: AbortSignal.timeout(30_000) });
    context.terminal.say(`Canceled ${id}.`);
    return exitCodes.ok;
  });
}

/** Answers the question a task waits with, and shows how it goes on. */
export async function answerRun(id: string, text: string, options: RunsOptions, context: CliContext): Promise<number> {
  return acting(options, context, async (client, config) => {
    const shown = { client, terminal: context.terminal, json: options.json };
    const outcome = await conduct((signal) => client.send({ text, taskId: id }, { signal }), shown);
    await tellOutcome(outcome, context, { agentUrl: client.url, token: config.server.token, json: options.json });
    return exitCodeOf(outcome.state);
  });
}

type Act = (client: AgentClient, config: Config) => Promise<number>;

/** With the running server, or with the store read directly. */
async function reading(options: RunsOptions, context: CliContext, act: Act): Promise<number> {
  const config = await context.configure(options.config);
  const { url } = config.agents[options.agent];
  if (await isUp(url)) return act(context.connect(url, config.server.token), config);
  const stored = await storedClient(config.home, options.agent);
  if (stored === undefined) throw new AppError("not_found", `There are no runs yet: ${config.home} has no runs.db.`);
  try {
    return await act(stored.client, config);
  } finally {
    await stored.close();
  }
}

/** With the running server, or one started for the duration. */
async function acting(options: RunsOptions, context: CliContext, act: Act): Promise<number> {
  const config = await context.configure(options.config);
  const session = await openAgent(options.agent, config, context);
  try {
    return await act(session.client, config);
  } finally {
    await session.close();
  }
}

function rowOf({ id, state, updatedAt, title }: TaskSummary, columns: number): string {
  const when = new Date(updatedAt).toISOString().replace("T", " ").slice(0, 19);
  return safeLine(`${id}  ${state.padEnd(14)}  ${when}  ${title}`, columns);
}
