import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { sweepSize } from "manyhands/internal/testing/sweep-size";
import { plan, plannerForTest } from "../../flows/src/testing/planner.ts";
import { startManus } from "../servers/manus-server.ts";

const program = resolve(import.meta.dir, "../../flows/src/testing/flow-process.ts");
const flows = sweepSize({ usual: 16, full: 25 });
const seeds = sweepSize({ quick: [20261], usual: [20261, 7], full: [1, 2, 3, 4, 5] });
const kills = 8;
const patience = 90_000;

/** Numbers determined by the seed alone. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** A process that is restarted whenever it was killed, until it ends by itself or is stopped. */
function kept(start: () => { readonly pid: number; readonly exited: Promise<number> }) {
  let current = start();
  let isStopped = false;
  let restarts = 0;
  const done = (async () => {
    for (;;) {
      const code = await current.exited;
      if (isStopped || code !== 137) return code;
      restarts++;
      current = start();
    }
  })();
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(current.pid, signal);
    } catch {
      // It has ended; the loop above starts the next.
    }
  };
  return {
    done,
    restarts: () => restarts,
    kill: () => kill("SIGKILL"),
    async stop() {
      isStopped = true;
      kill("SIGTERM");
      await done;
    },
  };
}

/** Planning flows over two agents, while all three processes are killed at random. */
async function chaos(seed: number) {
  const random = randomFrom(seed);
  const home = await mkdtemp(join(tmpdir(), "manyhands-chaos-"));
  const thinking = await startScriptedModel(() => ({ text: "done", delayMs: 200 + random(400) }));
  const steps = [
    { id: "a", text: "Find the way", agent: "maps" },
    { id: "b", text: "Find a bed", agent: "hotels" },
    { id: "c", text: "Write", agent: "maps", depends_on: ["a", "b"] },
  ];
  const planner = await startScriptedModel(plannerForTest({ plans: Array(1000).fill(plan(...steps)) }));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const agents = await Promise.all(
    ["maps", "hotels"].map(async (name) => {
      const agentHome = await mkdtemp(join(home, name));
      const env = { MANYHANDS_HOME: agentHome, PORT: `${freePort()}`, SANDBOX: "off" };
      const model = { OPENAI_BASE_URL: thinking.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
      return {
        name,
        home: agentHome,
        url: `http://127.0.0.1:${env.PORT}`,
        ...kept(() => startManus({ ...env, ...model })),
      };
    }),
  );
  const begin = async (n: number) => {
    const parts = [{ type: "text" as const, text: `Plan trip ${n}` }];
    const input: AgentInput = { message: { messageId: `trip-${n}`, parts }, hops: 0 };
    await engine.start({ kind: "planning", input, principal: "p", contextId: `c${n}` });
  };
  await begin(0);
  const settings = { home, model: planner.url, agents: Object.fromEntries(agents.map(({ name, url }) => [name, url])) };
  const command = [process.execPath, program, JSON.stringify(settings)];
  const gateway = kept(() => Bun.spawn(command, { stdout: "ignore", stderr: "ignore" }));
  try {
    for (let n = 0, begun = 0; n < kills; n++) {
      for (let count = 0; count < flows / kills; count++) {
        if (begun === flows - 1) break;
        await begin(++begun);
      }
      await Bun.sleep(200 + random(500));
      [gateway, ...agents][random(3)]?.kill();
    }
    const late = setTimeout(() => void gateway.stop(), patience);
    await gateway.done;
    clearTimeout(late);
    await Promise.all(agents.map((agent) => agent.stop()));
    const { runs } = await engine.list({ kind: "planning", limit: 100 });
    const journals = await Promise.all(runs.map(({ id }) => engine.events(id)));
    const tasks = await Promise.all(agents.map((agent) => endsOf(agent.home)));
    const restarts = [gateway, ...agents].map((one) => one.restarts());
    return { runs, journals, tasks, restarts };
  } finally {
    await Promise.all([gateway.stop(), ...agents.map((agent) => agent.stop())]);
    await engine.close();
    await thinking.close();
    await planner.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** How the tasks of an agent ended. */
async function endsOf(home: string): Promise<string[]> {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const { runs } = await engine.list({ kind: "manus", limit: 100 });
  await engine.close();
  return runs.map(({ status }) => status);
}

for (const seed of seeds) {
  test(`gateway and agents killed at random: every flow ends once, every step is one task (seed ${seed})`, async () => {
    const { runs, journals, tasks, restarts } = await chaos(seed);
    expect(restarts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(kills / 2);
    expect(runs.map(({ status, error }) => ({ status, error }))).toEqual(
      Array(flows).fill({ status: "completed", error: undefined }),
    );
    for (const events of journals) {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const count = (type: string) => events.filter(({ event }) => event.type === type).length;
      expect([count("run-ended"), count("agent-asked"), count("agent-answered"), count("step-ended")]).toEqual([
        1, 3, 3, 3,
      ]);
    }
    expect(tasks).toEqual([Array(2 * flows).fill("completed"), Array(flows).fill("completed")]);
  }, 240_000);
}
