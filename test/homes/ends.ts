import { type Wire, wire } from "../a2a/rpc.ts";
import { say } from "./make-runs.ts";
import { setGoing, stored } from "./store.ts";
import { actingFor, eventually, principalsOf, type System } from "./system.ts";
import { eventsOf } from "./views.ts";

/** How the runs of a home end: the requests to model and tools, and each run's outcome. */
export type Ends = { readonly asked: readonly string[] } & Readonly<Record<string, Wire>>;

/** The person's answers, by a pattern of the question. */
const answers: readonly (readonly [question: RegExp, answer: (question: string) => string])[] = [
  [/Which way should/, () => "words"],
  [/This is the plan/, () => "yes"],
  [/tools__deploy/, (question) => /\byes \S+/.exec(question)?.[0] ?? "yes"],
  [/Which/, () => "the usual"],
];

const over = ["completed", "failed", "canceled"];

/**
 * Lets a home's runs continue, answers their questions, resumes paused ones, and waits until each
 * has ended.
 */
export async function endsOf(system: System): Promise<Ends> {
  setGoing(system.path);
  const ends: Record<string, Wire> = {};
  const all = principalsOf(system).map((name) => endsOfOne(actingFor(system, name)));
  for (const found of await Promise.all(all)) Object.assign(ends, found);
  const told = { asked: system.play.done.toSorted(), ...ends };
  return JSON.parse(stored(JSON.stringify(told), system.names));
}

/** How one principal's runs end. */
async function endsOfOne(system: System): Promise<Record<string, Wire>> {
  const { urls, headers } = system;
  const list = async (): Promise<Wire[]> => (await wire(fetch(`${urls.gateway}/runs?limit=200`, { headers }))).runs;
  for (const run of await list()) if (run.status === "paused") await resume(system, run);
  const answered = new Set<string>();
  let all: Wire[] = [];
  const open = () => all.filter(({ status }) => !over.includes(status));
  const runs = await eventually(
    () => `every run has ended: ${JSON.stringify(open())}`,
    async () => {
      all = await list();
      for (const run of open()) await goOn(system, run, answered);
      return open().length === 0 && all;
    },
    60_000,
  );
  const ends: Record<string, Wire> = {};
  for (const { id, name, status, answer, error, files, lastEvent } of runs) {
    const told = await eventsOf(system, id, lastEvent);
    const fileNames = files.map((file: Wire) => file.name);
    ends[id] = { name, status, answer, error, files: fileNames, told: countsOf(told.map(({ event }) => event.type)) };
  }
  return ends;
}

/** These are told as often as another agent is looked at while it works or waits. */
const byTheTime = ["agent-progressed", "agent-used"];

/** How often each type of event was emitted, except those whose number depends on the time. */
function countsOf(types: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const type of types.toSorted()) if (!byTheTime.includes(type)) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

async function resume({ urls, headers }: System, { id }: Wire): Promise<void> {
  await fetch(`${urls.gateway}/runs/${id}/resume`, { method: "POST", headers });
}

async function goOn(system: System, { id, status, question, error }: Wire, answered: Set<string>): Promise<void> {
  if (status === "paused") throw new Error(`${id} is paused: ${JSON.stringify(error)}`);
  if (status !== "input-required" || answered.has(id + question)) return;
  const [, answer] = answers.find(([asked]) => asked.test(question)) ?? [];
  if (answer === undefined) throw new Error(`Nobody knows what to answer: ${question}`);
  answered.add(id + question);
  await say(system, id, answer(question));
}
