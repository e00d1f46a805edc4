import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Config, firstAgent } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { agentKind } from "../flows/agent-flow.ts";
import { flowNamed, loadFlows } from "../flows/load-flows.ts";
import { isOwnAgent } from "../session/agent-session.ts";
import type { CliContext } from "../session/context.ts";
import { isUp } from "../session/is-up.ts";
import { openSession, type Partner } from "../session/open-session.ts";
import { urlOf } from "../supervisor/server-table.ts";
import type { AgentClient, TaskList, TaskSummary } from "../tasks/agent-client.ts";
import type { StoredRuns } from "../tasks/stored-runs.ts";
import { openStoredRuns } from "../tasks/stored-runs.ts";
import { exitCodeOf, exitCodes } from "../terminal/exit-code.ts";
import { tellOutcome } from "../terminal/outcome.ts";
import { renderTask } from "../terminal/render-task.ts";
import { safeJson, safeLine } from "../terminal/safe-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { readFiles } from "./read-task.ts";
import { type Spoken, tellWhatNext } from "./what-next.ts";

/**
 * The options every `runs` command takes. With neither agent nor flow it is about all there are in
 * the store.
 */
export type RunsOptions = Spoken & { readonly json?: boolean };

/**
 * Lists the newest runs: an agent's from its server where one is up, everything else from the store
 * on this machine. Where there is none, the agents are elsewhere, and the first of them is the one
 * that is meant.
 */
export async function listRuns(
  options: RunsOptions & { readonly limit: number },
  context: CliContext,
): Promise<number> {
  const config = await context.configure(options.config);
  const { agent, flow } = options;
  if (flow !== undefined) flowNamed(await loadFlows(config), flow);
  await using stored = openStore(config, options);
  const asked = agent ?? (stored === undefined && flow === undefined ? firstAgent(config) : undefined);
  const own = asked === undefined ? undefined : config.agents[asked];
  if (own !== undefined && (await isUp(own.url)))
    return await tellList(await context.connect(own.url, own.token), options, context);
  // The store is closed when this function is left, which is not to be before the list is told.
  return await tellList(stored?.runs ?? { list: async () => [] }, options, context);
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
 * Shows a task from its first event to where it stands, from the store on this machine, which has
 * the whole journal. The events of a task elsewhere are its agent's: `watch` shows those.
 */
export async function showRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  await using stored = openStore(config, options);
  if (stored === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  const { terminal } = context;
  const { json } = options;
  const outcome = await renderTask(() => stored.runs.show(id), { client: undefined, terminal, json });
  await tellOutcome(outcome, context, { source: stored.runs, json });
  if (!json && outcome.state === "paused") tellWhatNext(outcome, options, config, context);
  return exitCodes.ok;
}

/** Shows a task live until it ends or waits. */
export async function watchRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withWhose(id, options, context, (client, whose) =>
    show(id, (signal) => client.watch(id, { signal }), client, whose, context),
  );
}

/** Answers the question a task waits with, and shows how it goes on. */
export async function answerRun(
  id: string,
  text: string,
  options: RunsOptions & { readonly file?: readonly string[] },
  context: CliContext,
): Promise<number> {
  const files = await readFiles(options.file ?? [], context.cwd);
  return withWhose(id, options, context, (client, whose) =>
    show(id, (signal) => client.send({ text, files, taskId: id }, { signal }), client, whose, context),
  );
}

/**
 * Cancels a task; a server is started for it when none is up, since only a server ends what runs.
 */
export async function cancelRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withWhose(id, options, context, async (client) => {
    await client.cancel(id, { signal: AbortSignal.timeout(30_000) });
    context.terminal.say(`Canceled ${id}.`);
    return exitCodes.ok;
  });
}

/**
 * Lets a paused task try again: a server that is up goes on with it at once, else the next one
 * does.
 */
export async function resumeRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  await using stored = openStore(config, options);
  if (stored === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  await stored.runs.resume(id);
  context.terminal.say(`${id} goes on.`);
  return exitCodes.ok;
}

async function show(
  id: string,
  open: Parameters<typeof renderTask>[0],
  client: AgentClient,
  { json, ...spoken }: RunsOptions,
  context: CliContext,
): Promise<number> {
  const { terminal } = context;
  // A stream that ends early has not told the task's own ids.
  const outcome = { ...(await renderTask(open, { client: undefined, terminal, json })), taskId: id };
  const config = await context.configure(spoken.config);
  await using stored = openStore(config, {});
  const before = await journalOf(id, stored?.runs, terminal);
  if (before === undefined) await tellOutcome(outcome, context, { source: client, json });
  else await tellOutcome({ ...outcome, ...before }, context, { source: before.source, json });
  if (!json) tellWhatNext(outcome, spoken, config, context);
  return exitCodeOf(outcome.state);
}

/**
 * What a task made and used from its first event on, from the store on this machine: who answers or
 * watches has seen its end only. Undefined where the task is elsewhere.
 */
async function journalOf(id: string, runs: StoredRuns | undefined, terminal: Terminal) {
  if (runs === undefined || (await runs.kindOf(id)) === undefined) return undefined;
  const silent = { ...terminal, out: () => undefined, say: () => undefined };
  const { artifacts, view } = await renderTask(() => runs.show(id), { client: undefined, terminal: silent });
  return { artifacts, view, source: runs };
}

/**
 * With the server of the agent or flow whose run it is: the running one, or one started for the
 * duration.
 */
async function withWhose(
  id: string,
  options: RunsOptions,
  context: CliContext,
  act: (client: AgentClient, whose: RunsOptions) => Promise<number>,
): Promise<number> {
  const config = await context.configure(options.config);
  const { agent, flow } = options;
  const kind = await storedKind(id, config);
  const whose = agent === undefined && flow === undefined ? partnerOf(kind, config) : { agent, flow };
  // A server that is up may have a store elsewhere; one that is started has this one.
  if (kind === undefined && !(await isUp(serverOf(whose, config))))
    throw new AppError("not_found", `There is no run ${id} in ${config.home}, and no server is up that may have it.`);
  const session = await openSession(whose, config, context);
  try {
    return await act(session.client, { ...options, ...whose, passing: session.passing });
  } finally {
    await session.close();
  }
}

/** Where the server is that a partner is talked to at. */
function serverOf({ agent, flow, byGateway }: Partner, config: Config): string {
  const name = agent ?? firstAgent(config);
  const isDirect = flow === undefined && byGateway !== true && isOwnAgent(name, config);
  return urlOf({ name: isDirect ? name : "gateway" }, config);
}

async function storedKind(id: string, config: Config): Promise<string | undefined> {
  await using stored = openStore(config, {});
  return await stored?.runs.kindOf(id);
}

/**
 * Whose runs are of this kind: a flow's, an agent's own, or the gateway's that hands a task on to
 * an agent.
 */
function partnerOf(kind: string | undefined, config: Config): Partner {
  if (kind === undefined) return { agent: firstAgent(config) };
  if (kind.startsWith(agentKind(""))) return { agent: kind.slice(agentKind("").length), byGateway: true };
  return isOwnAgent(kind, config) ? { agent: kind } : { flow: kind };
}

function openStore(
  config: Config,
  { agent, flow }: Pick<RunsOptions, "agent" | "flow">,
): ReturnType<typeof openStoredRuns> | undefined {
  return existsSync(join(config.home, "runs.db"))
    ? openStoredRuns(config.home, flow ?? (agent === undefined || isOwnAgent(agent, config) ? agent : agentKind(agent)))
    : undefined;
}

function rowOf({ id, of, state, updatedAt, title }: TaskSummary, columns: number): string {
  const when = new Date(updatedAt).toISOString().replace("T", " ").slice(0, 19);
  const whose = of === undefined ? "" : `${safeLine(of, 40).padEnd(13)}  `;
  const facts = `${safeLine(id, 80)}  ${whose}${state.padEnd(14)}  ${when}  `;
  return facts + safeLine(title, Math.max(20, columns - facts.length));
}
