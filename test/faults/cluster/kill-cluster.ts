import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { wire } from "../../a2a/rpc.ts";
import { type Cluster, clusterAgents, startCluster } from "./cluster.ts";
import { type CountedScript, startCountedScript } from "./counted-script.ts";
import { type Killing, type KillPlan, killParts } from "./kills.ts";
import { type AcceptedTask, handIn } from "./tasks.ts";

/** What came of a cluster whose parts were killed. */
export type Outcome = {
  readonly tasks: number;
  readonly kills: Readonly<Record<Killing, number>>;
  readonly events: number;
  readonly effects: number;
  readonly modelAsked: number;
  /** Replies that a kill cut off before they were recorded, so that they were asked for again. */
  readonly modelAskedAgain: number;
  readonly startedMs: number;
  /** How long the last task took after the last kill. */
  readonly settledMs: number;
  /** What is not as it has to be; empty if all is. */
  readonly wrong: readonly string[];
};

/** How long and how often to kill. */
export type KillOptions = KillPlan & {
  /** How many nodes Restate has: three go on without one of them. */
  readonly restateCount: number;
  /** Leaves home, data and logs where they are. */
  readonly keep?: boolean;
};

/** Tasks under way at a time: enough that each kill meets some. */
const lanes = 5;
const settledWithinMs = 90_000;

/**
 * Gives tasks to a cluster of two gateways and two of each agent while its parts are killed, and
 * checks that each accepted one ends right, that each effect is there exactly once, that readers at
 * each gateway see every event once and in order, and that no recorded reply of the model is paid
 * for again.
 */
export async function killCluster({ restateCount, keep = false, ...plan }: KillOptions): Promise<Outcome> {
  const { seconds, say } = plan;
  const folder = await mkdtemp(join(tmpdir(), "kill-cluster-"));
  // Commands run as a user of their own.
  await chmod(folder, 0o755);
  if (keep) say(`Everything is in ${folder}`);
  const effects = join(folder, "effects.txt");
  await Bun.write(effects, "");
  await chmod(effects, 0o666);
  const script = await startCountedScript(effects);
  const begun = performance.now();
  try {
    await using cluster = await startCluster(folder, { restateCount, modelUrl: script.urlOf });
    const startedMs = performance.now() - begun;
    say(`All parts are up after ${(startedMs / 1000).toFixed(1)} s`);
    const enough = new AbortController();
    const working = work(cluster, AbortSignal.timeout(seconds * 1000 + settledWithinMs), enough.signal);
    // Kept from being reported as nobody's while the kills go on.
    working.catch(() => undefined);
    const kills = await killParts(cluster, plan);
    enough.abort();
    const settling = performance.now();
    const tasks = await working;
    const settledMs = performance.now() - settling;
    return {
      ...(await judge({ cluster, script, effectsFile: effects }, tasks)),
      tasks: tasks.length,
      kills,
      startedMs,
      settledMs,
    };
  } finally {
    await script.close();
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}

type ReadTask = AcceptedTask & { readonly events: readonly (readonly string[])[] | Error };

/** Hands tasks in, some at a time, until there are enough; resolves once all have ended. */
async function work(cluster: Cluster, signal: AbortSignal, enough: AbortSignal): Promise<readonly ReadTask[]> {
  const gateways = cluster.gateways.map(({ url }) => url);
  const tasks: ReadTask[] = [];
  let n = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!enough.aborted) {
        const task = `task-${++n}`;
        const accepted = await handIn(cluster.url, task, gateways, signal);
        if (accepted === undefined) return;
        const events = await accepted.readers.catch((error: Error) => error);
        tasks.push({ ...accepted, events });
      }
    }),
  );
  return tasks;
}

async function judge(
  { cluster, script, effectsFile }: { cluster: Cluster; script: CountedScript; effectsFile: string },
  tasks: readonly ReadTask[],
) {
  const wrong: string[] = [];
  const answers: string[] = [];
  const [gateway] = cluster.gateways;
  let events = 0;
  for (const { task, id, events: read } of tasks) {
    if (read instanceof Error) {
      wrong.push(`${task} (${id}): a reader failed: ${read.message}`);
      continue;
    }
    const [first = [], second = []] = read;
    events += first.length;
    if (JSON.stringify(first) !== JSON.stringify(second))
      wrong.push(`${task} (${id}): two readers saw different events`);
    const types: string[] = first.map((text) => JSON.parse(text).event.type);
    const count = (type: string) => types.filter((one) => one === type).length;
    const [asked, answered, ended] = [count("agent-asked"), count("agent-answered"), count("run-ended")];
    if (asked !== clusterAgents.length || answered !== clusterAgents.length || ended !== 1)
      wrong.push(`${task} (${id}): ${asked} asked, ${answered} answered, ${ended} ended`);
    const run = await wire(fetch(`${gateway?.url}/runs/${id}`));
    answers.push(JSON.stringify(first), String(run.answer));
    if (run.status !== "completed" || !String(run.answer).includes(`${clusterAgents.at(-1)} did ${task} `))
      wrong.push(`${task} (${id}) is ${run.status}: ${JSON.stringify(run.answer ?? run.error)}`);
  }
  const effects = (await Bun.file(effectsFile).text()).split("\n").filter((line) => line !== "");
  const due = tasks.flatMap(({ task }) => clusterAgents.flatMap((agent) => script.linesOf(agent, task)));
  wrong.push(...differences(due, effects));
  wrong.push(...script.paidTwice(answers).map((line) => `Paid twice: ${line}`));
  wrong.push(...(await strayRuns(cluster.database, tasks.length)));
  return { wrong, events, effects: effects.length, modelAsked: script.asked, modelAskedAgain: script.askedAgain };
}

function differences(due: readonly string[], found: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const line of found) times.set(line, (times.get(line) ?? 0) + 1);
  const wrong = due.flatMap((line) =>
    times.get(line) === 1 ? [] : [`"${line}" was written ${times.get(line) ?? 0} times`],
  );
  const known = new Set(due);
  return [...wrong, ...found.filter((line) => !known.has(line)).map((line) => `"${line}" was written for nobody`)];
}

/** Each agent has as many tasks as there are runs, all completed, and nothing is left to do. */
async function strayRuns(url: string, tasks: number): Promise<string[]> {
  const sql = new SQL({ url, max: 1 });
  try {
    const rows: { kind: string; status: string; count: string }[] = await sql.unsafe(
      "SELECT kind, status, count(*) FROM manyhands.runs GROUP BY kind, status ORDER BY kind, status",
    );
    const wrong = rows
      .filter(({ status }) => status !== "completed")
      .map(({ kind, status, count }) => `${count} runs of kind ${kind} are ${status}`);
    for (const kind of ["sequential", ...clusterAgents]) {
      const count = Number(rows.find((row) => row.kind === kind && row.status === "completed")?.count ?? 0);
      if (count !== tasks) wrong.push(`${count} runs of kind ${kind} completed, for ${tasks} tasks`);
    }
    return wrong;
  } finally {
    await sql.close({ timeout: 1 });
  }
}
