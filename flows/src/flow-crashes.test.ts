import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { AgentOutput } from "manyhands/internal/core/runs/task";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type AgentServerForTest, agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import { compiled } from "manyhands/internal/testing/bundled";
import { type FlowStart, inputForTest } from "manyhands/internal/testing/flow";
import {
  type ModelScript,
  type ScriptedReply,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";
import { sweepSize } from "manyhands/internal/testing/sweep-size";
import type * as z from "zod";
import type { flowChildSettings } from "./testing/flow-process.ts";
import { plan, plannerForTest, revision } from "./testing/planner.ts";

/** A flow whose process is killed, and the result it must still produce. */
type Case = {
  readonly kind: string;
  /** What is special about it. */
  readonly title?: string;
  readonly request: FlowStart;
  readonly agents: Readonly<Record<string, () => ModelScript>>;
  readonly model?: () => ModelScript;
  /** Left out if it depends on which branch is first. */
  readonly answer?: string;
  readonly modelCalls: number;
  /** How many of them can be in flight at the same time; one if left out. */
  readonly callsAtOnce?: number;
  /** How many events of each type there must be. */
  readonly counts: { readonly [type: string]: number };
  /** How many tasks each agent has at the end; one if left out. */
  readonly asks?: number | Readonly<Record<string, number>>;
  /** Agents with at most one task, which may no longer be needed. */
  readonly perhaps?: readonly string[];
  /** Kill at every n-th durable write unless the sweep is full. */
  readonly stride: number;
};

const program = await compiled(new URL("./testing/flow-process.ts", import.meta.url).pathname);
afterAll(() => program[Symbol.asyncDispose]());

/** Runs a process that executes a flow until it ends; returns whether it killed itself. */
async function crashed(settings: z.input<typeof flowChildSettings>): Promise<boolean> {
  const child = Bun.spawn([program.path, JSON.stringify(settings)], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const killer = setTimeout(() => child.kill("SIGTERM"), 120_000);
  const said = await new Response(child.stderr).text();
  await child.exited;
  clearTimeout(killer);
  if (child.signalCode !== "SIGKILL" && child.exitCode !== 0)
    throw new Error(`the flow's process failed (${child.signalCode ?? child.exitCode}): ${said}`);
  return child.signalCode === "SIGKILL";
}

type Outcome = {
  readonly crashed: boolean;
  readonly status: string | undefined;
  readonly output: AgentOutput | undefined;
  /** The branches reported as completed. */
  readonly completed: readonly string[];
  readonly types: readonly string[];
  readonly seqs: readonly number[];
  readonly tasks: Readonly<Record<string, number>>;
  readonly modelCalls: number;
};

/** One flow whose process kills itself at this point and is restarted. */
async function flowOnce({ kind, request, ...spec }: Case, crashAt: string): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-flow-crash-"));
  const model = await startScriptedModel(spec.model?.() ?? []);
  const agents = new Map<string, AgentServerForTest>();
  for (const [name, script] of Object.entries(spec.agents))
    agents.set(name, await agentServerForTest({ script: script(), agent: { name, title: name } }));
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
      output: record?.output as AgentOutput | undefined,
      completed: events.flatMap(({ event }) => {
        const read = readEvent(event);
        if (read.type !== "flow-told" || read.of !== "branch-ended") return [];
        return read.data.outcome === "completed" ? [String(read.data.branch)] : [];
      }),
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

/** Kills at points throughout the flow, in two lanes: just before and just after a write. */
async function everyPoint(spec: Case): Promise<number> {
  const stride = sweepSize({ usual: spec.stride, full: 1 });
  let crashes = 0;
  const lane = async (suffix: string, from: number) => {
    for (let n = from; ; n += stride) {
      const outcome = await flowOnce(spec, `${n}${suffix}`);
      const at = `CRASH_AT=${n}${suffix}`;
      const { seqs, types, tasks } = outcome;
      const count = (type: string) => types.filter((one) => one === type).length;
      const answer = outcome.output?.answer;
      expect({ at, status: outcome.status, answer }).toEqual({
        at,
        status: "completed",
        answer: spec.answer ?? answer,
      });
      expect({ at, completed: outcome.completed.toSorted() }).toEqual({ at, completed: completedIn(outcome.output) });
      for (const [name, asked] of Object.entries(tasks)) {
        const isSure = !spec.perhaps?.includes(name);
        expect({ at, name, asked }).toEqual({ at, name, asked: isSure ? tasksOf(spec, name) : Math.min(1, asked) });
      }
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      const counts = { ...spec.counts, "run-ended": 1, "model-replied": spec.modelCalls };
      expect({ at, ...Object.fromEntries(Object.keys(counts).map((type) => [type, count(type)])) }).toEqual({
        at,
        ...counts,
      });
      // Every agent that was asked has ended.
      expect({ at, answered: count("agent-answered") }).toEqual({ at, answered: count("agent-asked") });
      // Only a call in flight may be repeated, since its reply was not recorded.
      expect(outcome.modelCalls - spec.modelCalls).toBeLessThanOrEqual(spec.callsAtOnce ?? 1);
      if (!outcome.crashed) return;
      crashes++;
    }
  };
  await Promise.all([lane("", 1), lane("+", 1 + Math.floor(stride / 2))]);
  return crashes;
}

function tasksOf({ asks = 1 }: Case, agent: string): number {
  return typeof asks === "number" ? asks : (asks[agent] ?? 1);
}

/** The branches that completed, according to the flow's output. */
function completedIn(output: AgentOutput | undefined): string[] {
  const { branches = [], choice } = (output?.data ?? {}) as {
    branches?: { branch: string; outcome: string }[];
    choice?: { branch: string };
  };
  const taken = choice === undefined ? [] : [choice.branch];
  return [...taken, ...branches.flatMap(({ branch, outcome }) => (outcome === "completed" ? [branch] : []))];
}

const done = (name: string, delayMs = 10) => [name, () => () => ({ text: `${name} is done`, delayMs })] as const;
const three = Object.fromEntries(["maps", "hotels", "writer"].map((name) => done(name)));
const names = Object.keys(three);

const way = { id: "a", text: "Find the way", agent: "maps", expected: "a way" };
const bed = { id: "b", text: "Find a bed", agent: "hotels", expected: "a bed" };
const letter = { id: "c", text: "Write", agent: "writer", depends_on: ["a", "b"] };

/** The model of a debate: it names two positions, sees no agreement and judges. */
function modelOfDebate({ tools }: ChatRequest): ScriptedReply {
  const name = tools?.[0]?.function.name ?? "";
  const replies: Readonly<Record<string, object>> = {
    name_positions: {
      positions: ["north", "south"].map((position, index) => ({ position, agent: index === 0 ? "maps" : "hotels" })),
    },
    check_agreement: { agreed: false, reason: "they differ" },
    give_verdict: { decision: "north", confidence: 0.6, reasons: ["see [1]"], dissent: "", citations: [1, 4] },
  };
  return { calls: [{ name, args: replies[name] ?? {} }] };
}

const cases: readonly Case[] = [
  {
    kind: "planning",
    request: { text: "Plan the trip" },
    agents: three,
    model: () =>
      plannerForTest({
        plans: Array(2).fill(plan(way, bed, letter)),
      }),
    answer: "the report",
    modelCalls: 4,
    callsAtOnce: 2,
    counts: { "agent-asked": 3, "step-ended": 3 },
    stride: 6,
  },
  {
    kind: "planning",
    title: "where a step fails, is tried again and planned anew",
    request: { text: "Plan the trip" },
    agents: three,
    model: () =>
      plannerForTest({
        plans: Array(4).fill((text: string) =>
          text.includes("What came of the plan so far")
            ? revision("continue", { id: "d", text: "Camp", agent: "writer", depends_on: ["a"] })
            : plan(way, bed, letter),
        ),
        check: (text) => {
          const isBed = text.includes("Find a bed");
          return { verdict: isBed ? "not_met" : "met", evidence: isBed ? "" : "a way", reason: "there is no bed" };
        },
      }),
    answer: "the report",
    modelCalls: 6,
    callsAtOnce: 2,
    counts: { "agent-asked": 4, "step-ended": 5 },
    asks: { hotels: 2 },
    stride: 9,
  },
  {
    kind: "sequential",
    request: { text: "Go", agents: names },
    agents: three,
    answer: "writer is done",
    modelCalls: 0,
    counts: { "agent-asked": 3, "step-ended": 3 },
    stride: 5,
  },
  {
    kind: "parallel",
    request: { text: "Go", agents: names, options: { policy: "quorum", quorum: 2, aggregate: "model" } },
    agents: { ...three, ...Object.fromEntries([done("writer", 120_000)]) },
    model: () => () => ({ text: "both of them" }),
    answer: "both of them",
    modelCalls: 1,
    counts: { "branch-ended": 3, "policy-settled": 1 },
    perhaps: ["writer"],
    stride: 6,
  },
  {
    kind: "parallel",
    title: "whose branches vie",
    request: { text: "Go", agents: names, options: { policy: "quorum", quorum: 2 } },
    agents: three,
    modelCalls: 0,
    counts: { "branch-ended": 3, "policy-settled": 1 },
    perhaps: names,
    stride: 5,
  },
  {
    kind: "conditional",
    request: { text: "Where to sleep?", agents: names },
    agents: three,
    model: () => () => ({
      calls: [{ name: "choose_branch", args: { branch: "hotels", confidence: 1, reason: "a bed" } }],
    }),
    answer: "hotels is done",
    modelCalls: 1,
    counts: { "agent-asked": 1, "choice-made": 1, "branch-ended": 1 },
    perhaps: ["maps", "writer"],
    stride: 4,
  },
  {
    kind: "loop",
    request: {
      text: "Write",
      agents: ["writer"],
      options: { until: { by: "agent", agent: "critic" } },
    },
    agents: {
      writer: () => (_, n) => ({ text: `draft ${n + 1}` }),
      critic:
        () =>
        ({ messages }) => {
          const passed = JSON.stringify(messages).includes("draft 2");
          const response = { passed, feedback: passed ? "fine" : "too short", score: passed ? 1 : 0 };
          return { calls: [{ name: "create_chat_completion", args: { response } }] };
        },
    },
    answer: "draft 2",
    modelCalls: 0,
    counts: { "agent-asked": 4, "iteration-ended": 2 },
    asks: 2,
    stride: 6,
  },
  {
    kind: "debate",
    request: { text: "Where to?", agents: ["maps", "hotels"], options: { rounds: 2 } },
    agents: Object.fromEntries([done("maps"), done("hotels")]),
    model: () => modelOfDebate,
    answer: "north\n\nConfidence: 0.6\n\nBecause:\n- see [1]\n\nIt rests on [1], [4].",
    modelCalls: 3,
    counts: { "agent-asked": 4, "argument-made": 4, "round-ended": 2, "verdict-given": 1 },
    asks: 2,
    stride: 6,
  },
];

for (const spec of cases) {
  test(`kill -9 at the durable writes of a ${spec.kind} flow${spec.title === undefined ? "" : ` ${spec.title}`}: the same result, and nothing that was done is done again`, async () => {
    expect(await everyPoint(spec)).toBeGreaterThan(3);
  }, 600_000);
}
