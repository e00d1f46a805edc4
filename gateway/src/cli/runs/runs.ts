import type { Config } from "manyhands/internal/config/config";
import { firstAgent } from "manyhands/internal/config/named-agent";
import { AppError } from "manyhands/internal/core/errors";
import type { RunView } from "manyhands/internal/runs/run-view";
import { agentKind } from "../../flows/agent-flow.ts";
import { flowNamed, loadFlows } from "../../flows/load-flows.ts";
import { isOwnAgent } from "../../session/agent-session.ts";
import type { CliContext } from "../../session/context.ts";
import { isUsable } from "../../session/is-up.ts";
import { openSession, type Partner } from "../../session/open-session.ts";
import type { AgentClient, TaskSummary } from "../../tasks/agent-client.ts";
import type { StoredRuns } from "../../tasks/stored-runs.ts";
import { openStoredRuns } from "../../tasks/stored-runs.ts";
import { exitCodeOf, exitCodes } from "../../terminal/exit-code.ts";
import { tellOutcome } from "../../terminal/outcome.ts";
import { renderTask } from "../../terminal/render-task.ts";
import { safeJson, safeLine } from "../../terminal/safe-text.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { readFiles } from "./read-task.ts";
import { type Spoken, tellWhatNext } from "./what-next.ts";

/**
 * Options of every `runs` command. With neither agent nor flow, it covers all runs in the store.
 */
export type RunsOptions = Spoken & { readonly json?: boolean };

/** What is listed. */
type ListOptions = RunsOptions & { readonly limit: number; readonly status?: RunView["status"] };

/**
 * Lists the newest runs: an agent's from its server if that is up, all others, and those with a
 * status, from the store on this machine. Without a store the agents are elsewhere, and the first
 * agent's server is asked.
 */
export async function listRuns(options: ListOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  const { agent, flow, status } = options;
  if (flow !== undefined) flowNamed(await loadFlows(config), flow);
  await using stored = await openStore(config, options);
  if (status !== undefined && stored === undefined)
    throw new AppError("not_found", `There are no runs in ${config.home}.`);
  const asked = agent ?? (stored === undefined && flow === undefined ? firstAgent(config) : undefined);
  const own = asked === undefined ? undefined : config.agents[asked];
  if (status === undefined && own !== undefined && asked !== undefined && (await isUsable(asked, config)))
    return await tellList(await context.connect(own.url, own.credentials), options, context);
  // `await`, so that the store is closed only after the list is printed.
  return await tellList(stored?.runs ?? { list: async () => [] }, options, context);
}

async function tellList(
  tasks: Pick<StoredRuns, "list">,
  { limit, status, json }: ListOptions,
  { terminal }: CliContext,
): Promise<number> {
  const found = await tasks.list({ limit, status, signal: AbortSignal.timeout(15_000) });
  if (json) terminal.out(`${safeJson(found, 2)}\n`);
  else if (found.length === 0) terminal.out(status === undefined ? "No runs yet.\n" : `No run is ${status}.\n`);
  else for (const task of found) terminal.out(`${rowOf(task, terminal.style.columns)}\n`);
  return exitCodes.ok;
}

/**
 * Shows a task from its first event to its current state, from the store on this machine, which has
 * the whole journal. For a task elsewhere use `watch`.
 */
export async function showRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  await using stored = await openStore(config, options);
  if (stored === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  const { terminal } = context;
  const { json } = options;
  const outcome = await renderTask(() => stored.runs.show(id), { client: undefined, terminal, json });
  await tellOutcome(outcome, context, { source: stored.runs, json });
  const waits = outcome.state === "paused" || outcome.state === "input-required";
  if (!json && waits) tellWhatNext({ ...outcome, taskId: id }, options, config, context);
  return exitCodes.ok;
}

/** Shows a task live until it ends or waits. */
export async function watchRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withPartner(id, options, context, (client, partner) =>
    show(id, (signal) => client.watch(id, { signal }), client, partner, context),
  );
}

/** Answers a task's question and shows what follows. */
export async function answerRun(
  id: string,
  text: string,
  options: RunsOptions & { readonly file?: readonly string[] },
  context: CliContext,
): Promise<number> {
  const files = await readFiles(options.file ?? [], context.cwd);
  return withPartner(id, options, context, (client, partner) =>
    show(id, (signal) => client.send({ text, files, taskId: id }, { signal }), client, partner, context),
  );
}

/**
 * Cancels a task. Starts a server if none is up, because only a server can end a run.
 */
export async function cancelRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  return withPartner(id, options, context, async (client) => {
    await client.cancel(id, { signal: AbortSignal.timeout(30_000) });
    context.terminal.say(`Canceled ${id}.`);
    return exitCodes.ok;
  });
}

/**
 * Resumes a paused task: a running server continues it at once, otherwise the next one to start.
 */
export async function resumeRun(id: string, options: RunsOptions, context: CliContext): Promise<number> {
  const config = await context.configure(options.config);
  await using stored = await openStore(config, options);
  if (stored === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  await stored.runs.resume(id);
  context.terminal.say(`Resumed ${id}.`);
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
  // A stream that ends early may not have named the task.
  const outcome = { ...(await renderTask(open, { client: undefined, terminal, json })), taskId: id };
  const config = await context.configure(spoken.config);
  await using stored = await openStore(config, {});
  const before = await journalOf(id, stored?.runs, terminal);
  if (before === undefined) await tellOutcome(outcome, context, { source: client, json });
  else await tellOutcome({ ...outcome, ...before }, context, { source: before.source, json });
  if (!json) tellWhatNext(outcome, spoken, config, context);
  return exitCodeOf(outcome.state);
}

/**
 * What a task produced and used since its first event, from the store on this machine: `answer` and
 * `watch` see only its end. Undefined if the task is elsewhere.
 */
async function journalOf(id: string, runs: StoredRuns | undefined, terminal: Terminal) {
  if (runs === undefined || (await runs.kindOf(id)) === undefined) return undefined;
  const silent = { ...terminal, out: () => undefined, say: () => undefined };
  const { artifacts, view } = await renderTask(() => runs.show(id), { client: undefined, terminal: silent });
  return { artifacts, view, source: runs };
}

/**
 * Acts through the server of the run's agent or flow: the running one, or one started for this.
 */
async function withPartner(
  id: string,
  options: RunsOptions,
  context: CliContext,
  act: (client: AgentClient, partner: RunsOptions) => Promise<number>,
): Promise<number> {
  const config = await context.configure(options.config);
  const { agent, flow } = options;
  const kind = await storedKind(id, config);
  const partner = agent === undefined && flow === undefined ? partnerOf(kind, config) : { agent, flow };
  // A running server may use a store elsewhere; a new one would use this store.
  if (kind === undefined && !(await isUsable(serverOf(partner, config), config)))
    throw new AppError("not_found", `There is no run ${id} in ${config.home}, and no running server may have it.`);
  const session = await openSession(partner, config, context);
  try {
    return await act(session.client, { ...options, ...partner, passing: session.passing });
  } finally {
    await session.close();
  }
}

/** The server that serves a partner. */
function serverOf({ agent, flow, byGateway }: Partner, config: Config): string {
  const name = agent ?? firstAgent(config);
  const isDirect = flow === undefined && byGateway !== true && isOwnAgent(name, config);
  return isDirect ? name : "gateway";
}

async function storedKind(id: string, config: Config): Promise<string | undefined> {
  await using stored = await openStore(config, {});
  return await stored?.runs.kindOf(id);
}

/**
 * The agent or flow of runs of this kind. A kind `agent:NAME` is the gateway's run that passes a
 * task to that agent.
 */
function partnerOf(kind: string | undefined, config: Config): Partner {
  if (kind === undefined) return { agent: firstAgent(config) };
  if (kind.startsWith(agentKind(""))) return { agent: kind.slice(agentKind("").length), byGateway: true };
  return isOwnAgent(kind, config) ? { agent: kind } : { flow: kind };
}

function openStore(
  config: Config,
  { agent, flow }: Pick<RunsOptions, "agent" | "flow">,
): ReturnType<typeof openStoredRuns> {
  return openStoredRuns(config, flow ?? (agent === undefined || isOwnAgent(agent, config) ? agent : agentKind(agent)));
}

function rowOf({ id, of, state, updatedAt, title }: TaskSummary, columns: number): string {
  // By the clock of whoever reads it, in a form that sorts, which is the Swedish one.
  const when = new Date(updatedAt).toLocaleString("sv-SE");
  const name = of === undefined ? "" : `${safeLine(of, 40).padEnd(13)}  `;
  const facts = `${safeLine(id, 80)}  ${name}${statusIn(state).padEnd(14)}  ${when}  `;
  return facts + safeLine(title, Math.max(20, columns - facts.length));
}

/** What `--status` and the gateway call a state that A2A names otherwise. */
function statusIn(state: TaskSummary["state"]): string {
  if (state === "submitted") return "queued";
  return state === "working" ? "running" : state;
}
