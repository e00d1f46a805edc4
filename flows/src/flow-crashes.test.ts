import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentOutput } from "@manyhands/shared/agent/task";
import { createEmbeddedEngine } from "@manyhands/shared/durable/embedded/embedded-engine";
import { startScriptedModel } from "@manyhands/shared/llm/scripted-model";
import { type AgentServerForTest, agentServerForTest } from "@manyhands/shared/peers/agent-server-for-test";
import type * as z from "zod";
import type { flowChildSettings } from "./flow-child-for-test.ts";
import { type FlowStart, inputForTest } from "./flow-for-test.ts";
import { plan, plannerForTest, revision } from "./planning/planner-for-test.ts";

/** Every how many durable writes a process is killed; 1 for all, which takes some minutes. */
const stride = Number(process.env.CRASH_STRIDE ?? 8);

/** Runs a process that carries out a flow until it ends; whether it killed itself. */
async function crashed(settings: z.input<typeof flowChildSettings>): Promise<boolean> {
  const program = new URL("./flow-child-for-test.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], { stdout: "ignore", stderr: "pipe" });
  const killer = setTimeout(() => child.kill("SIGTERM"), 30_000);
  const said = await new Response(child.stderr).text();
  await child.exited;
  clearTimeout(killer);
  if (child.signalCode !== "SIGKILL" && child.exitCode !== 0) throw new Error(`the flow's process failed: ${said}`);
  return child.signalCode === "SIGKILL";
}

type Outcome = {
  readonly crashed: boolean;
  readonly status: string | undefined;
  readonly answer: string | undefined;
  readonly types: readonly string[];
  readonly seqs: readonly number[];
  readonly tasks: Readonly<Record<string, number>>;
  readonly modelCalls: number;
};

type Case = {
  readonly kind: string;
  readonly request: FlowStart;
  /** Made anew for each time; it answers by what it is asked, for a call may come twice. */
  readonly model: () => ReturnType<typeof plannerForTest>;
  readonly answer: string;
  readonly modelCalls: number;
  readonly tasks: Readonly<Record<string, number>>;
  readonly stepsEnded: number;
};

/** One flow whose process kills itself at this point and is started again. */
async function flowOnce({ kind, request, model: script }: Case, crashAt: string): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-flow-crash-"));
  const model = await startScriptedModel(script());
  const agents = new Map<string, AgentServerForTest>();
  for (const name of ["maps", "hotels", "writer"]) {
    const script = () => ({ text: `${name} is done`, delayMs: 10 });
    agents.set(name, await agentServerForTest({ script, agent: { name, title: name } }));
  }
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  try {
    const start = { kind, input: inputForTest(request), principal: "p", contextId: "c" };
    const { run } = await engine.start(start);
    const urls = Object.fromEntries([...agents].map(([name, { url }]) => [name, url]));
    const settings = { home, model: model.url, agents: urls };
    const first = await crashed({ ...settings, crashAt });
    if (first) await crashed(settings);
    const record = await engine.get(run.id);
    const events = await engine.events(run.id);
    const tasks = [...agents].map(async ([name, server]) => [name, (await server.tasks()).length] as const);
    return {
      crashed: first,
      status: record?.status,
      answer: (record?.output as AgentOutput | undefined)?.answer,
      types: events.map(({ event }) => event.type),
      seqs: events.map(({ seq }) => seq),
      tasks: Object.fromEntries(await Promise.all(tasks)),
      modelCalls: model.requests.length,
    };
  } finally {
    await engine.close();
    for (const server of agents.values()) await server[Symbol.asyncDispose]();
    await model.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Kills at points all over the flow, in two lanes: just before and just after a write. */
async function everyPoint(what: Case): Promise<number> {
  let crashes = 0;
  const lane = async (suffix: string, from: number) => {
    for (let n = from; ; n += stride) {
      const outcome = await flowOnce(what, `${n}${suffix}`);
      expectRight(`CRASH_AT=${n}${suffix}`, what, outcome);
      if (!outcome.crashed) return;
      crashes++;
    }
  };
  await Promise.all([lane("", 1), lane("+", 1 + Math.floor(stride / 2))]);
  return crashes;
}

function expectRight(at: string, { answer, tasks, modelCalls, stepsEnded }: Case, outcome: Outcome): void {
  const { seqs, types } = outcome;
  expect({ at, status: outcome.status, answer: outcome.answer }).toEqual({ at, status: "completed", answer });
  expect({ at, tasks: outcome.tasks }).toEqual({ at, tasks });
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  const asked = Object.values(tasks).reduce((sum, count) => sum + count);
  const counts = {
    "run-ended": 1,
    "agent-asked": asked,
    "agent-answered": asked,
    "step-ended": stepsEnded,
    "model-replied": modelCalls,
  };
  for (const [type, count] of Object.entries(counts))
    expect([at, type, types.filter((one) => one === type).length]).toEqual([at, type, count]);
  // Only the call in flight may be made again: its reply was not recorded.
  expect(outcome.modelCalls - modelCalls).toBeLessThanOrEqual(1);
}

const way = { id: "a", text: "Find the way", agent: "maps", expected: "a way" };
const bed = { id: "b", text: "Find a bed", agent: "hotels", expected: "a bed" };
const letter = { id: "c", text: "Write", agent: "writer", depends_on: ["a", "b"] };

test("kill -9 at the durable writes of a planning flow: the same result, and nothing that was done is done again", async () => {
  const crashes = await everyPoint({
    kind: "planning",
    request: { text: "Plan the trip" },
    model: () => plannerForTest({ plans: Array(2).fill(plan(way, bed, letter)) }),
    answer: "the report",
    modelCalls: 4,
    tasks: { maps: 1, hotels: 1, writer: 1 },
    stepsEnded: 3,
  });
  expect(crashes).toBeGreaterThan(4);
}, 600_000);

test("kill -9 where a step fails, is tried again and planned anew: the same way is taken", async () => {
  const byWhatIsAsked = (text: string) =>
    text.includes("What came of the plan so far")
      ? revision("continue", { id: "d", text: "Camp", agent: "writer", depends_on: ["a"] })
      : plan(way, bed, letter);
  const crashes = await everyPoint({
    kind: "planning",
    request: { text: "Plan the trip" },
    model: () =>
      plannerForTest({
        plans: Array(4).fill(byWhatIsAsked),
        check: (text) => {
          const isBed = text.includes("Find a bed");
          return { verdict: isBed ? "not_met" : "met", evidence: isBed ? "" : "a way", reason: "there is no bed" };
        },
      }),
    answer: "the report",
    modelCalls: 6,
    tasks: { maps: 1, hotels: 2, writer: 1 },
    stepsEnded: 5,
  });
  expect(crashes).toBeGreaterThan(5);
}, 600_000);

test("kill -9 at the durable writes of a sequential flow: the same result, and nothing that was done is done again", async () => {
  const crashes = await everyPoint({
    kind: "sequential",
    request: { text: "Go", agents: ["maps", "hotels", "writer"] },
    model: () => plannerForTest({ plans: [] }),
    answer: "writer is done",
    modelCalls: 0,
    tasks: { maps: 1, hotels: 1, writer: 1 },
    stepsEnded: 3,
  });
  expect(crashes).toBeGreaterThan(2);
}, 600_000);
