import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentName } from "@manyhands/shared/config/agents";
import type { Config } from "@manyhands/shared/config/config";
import { AppError } from "@manyhands/shared/errors";
import type { AgentClient, TaskList, TaskSummary } from "../tasks/agent-client.ts";
import { openStoredRuns } from "../tasks/open-stored-runs.ts";
import { safeJson, safeLine } from "../terminal/safe-text.ts";
import { isUp, openAgent } from "./agent-session.ts";
import { conduct } from "./conduct.ts";
import type { CliContext } from "./context.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { openFlow } from "./flow-session.ts";
import { tellOutcome } from "./outcome.ts";
import { tellWhatNext } from "./what-next.ts";

/** The options every `runs` command takes. */
export type RunsOptions = {
  readonly agent: AgentName;
  /** A flow of the gateway instead of the agent. */
  readonly flow?: string;
  readonly json?: boolean;
  readonly config?: string;
};

/** Lists the newest tasks: from the agent's server, or from the store when no server is up. */
export async function listRuns(
  options: RunsOptions & { readonly limit: number },
  context: CliContext,
): Promise<number> {
  const config = await context.configure(options.config);
  const { url } = config.agents[options.agent];
  if (await isUp(url)) return tellList(await context.connect(url, config.server.token), options, context);
  await using stored = openStore(config, options.agent);
  return stored === undefined
    ? tellList({ list: async () => [] }, options, context)
    : tellList(stored.runs, options, context);
}

async function tellList(
  tasks: TaskList,
  { limit, json }: RunsOptions & { readonly limit: number },
  { terminal }: CliContext,
): Promise<number> {
  const found = await tasks.list({ limit, signal: AbortSignal.timeout(15_000) });
  if (json) terminal.out(`${safeJson(found, 2)}\n`);
  else if (found.length === 0) terminal.out("There are no runs yet.\n");
  else for (const task of found) terminal.out(`${rowOf(task, terminal.style.columns)}\n`);
  return exitCodes.ok;
}

/**
 * Shows a task from its first event to where it stands, from the store on this machine, which has the whole journal. The events of a
 * task elsewhere are its agent's: `watch` shows those.
 */
export async function showRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  await using stored = openStore(config, options.agent);
  if (stored === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  const { terminal } = context;
  const { json } = options;
  const outcome = await conduct(() => stored.runs.show(id), { client: undefined, terminal, json });
  await tellOutcome(outcome, context, { source: stored.runs, json });
  return exitCodes.ok;
}

/** Shows a task live until it ends or waits. */
export async function watchRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withAgent(options, context, (client) =>
    show((signal) => client.watch(id, { signal }), client, options, context),
  );
}

/** Answers the question a task waits with, and shows how it goes on. */
export async function answerRun(id: string, text: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withAgent(options, context, (client) =>
    show((signal) => client.send({ text, taskId: id }, { signal }), client, options, context),
  );
}

/** Cancels a task; a server is started for it when none is up, since only a server ends what runs. */
export async function cancelRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withAgent(options, context, async (client) => {
    await client.cancel(id, { signal: AbortSignal.timeout(30_000) });
    context.terminal.say(`Canceled ${id}.`);
    return exitCodes.ok;
  });
}

/** Lets a paused task try again: a server that is up goes on with it at once, else the next one does. */
export async function resumeRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  await using stored = openStore(config, options.agent);
  if (stored === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  await stored.runs.resume(id);
  context.terminal.say(`${id} goes on.`);
  return exitCodes.ok;
}

async function show(
  open: Parameters<typeof conduct>[0],
  client: AgentClient,
  { json, ...spoken }: RunsOptions,
  context: CliContext,
): Promise<number> {
  const outcome = await conduct(open, { client: undefined, terminal: context.terminal, json });
  await tellOutcome(outcome, context, { source: client, json });
  if (!json) tellWhatNext(outcome, spoken, context);
  return exitCodeOf(outcome.state);
}

/** With the running server, or one started for the duration. */
async function withAgent(
  options: RunsOptions,
  context: CliContext,
  act: (client: AgentClient) => Promise<number>,
): Promise<number> {
  const config = await context.configure(options.config);
  const { agent, flow } = options;
  const session = flow === undefined ? await openAgent(agent, config, context) : await openFlow(flow, config, context);
  try {
    return await act(session.client);
  } finally {
    await session.close();
  }
}

function openStore(config: Config, agent: AgentName): ReturnType<typeof openStoredRuns> | undefined {
  return existsSync(join(config.home, "runs.db")) ? openStoredRuns(config.home, agent) : undefined;
}

function rowOf({ id, state, updatedAt, title }: TaskSummary, columns: number): string {
  const when = new Date(updatedAt).toISOString().replace("T", " ").slice(0, 19);
  const facts = `${safeLine(id, 80)}  ${state.padEnd(14)}  ${when}  `;
  return facts + safeLine(title, Math.max(20, columns - facts.length));
}
