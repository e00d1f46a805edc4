import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import { gateForTest } from "manyhands/internal/testing/a2a/gate";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";

const preload = resolve(import.meta.dir, "set-clock.fixture.ts");
const hour = 3_600_000;

/**
 * The agent's answer to everything, after thinking for a while; as the judge of a debate it gives a
 * verdict.
 */
const verdict = { decision: "Yes", confidence: 0.9, reasons: ["It holds [1]."], dissent: "", citations: [1] };
const replies = ({ tools = [] }: ChatRequest) =>
  tools.some((tool) => tool.function.name === "create_chat_completion")
    ? { calls: [{ name: "create_chat_completion", args: { response: verdict } }] }
    : { text: "done", delayMs: 5_000 };

/** A gateway whose clock can be set, and the route to its agent. */
async function place() {
  const home = await mkdtemp(join(tmpdir(), "clock-jumps-"));
  const offset = join(home, "offset");
  const agent = await agentServerForTest({ script: replies });
  const gate = gateForTest(agent.url);
  const set = (ms: number) => writeFile(offset, String(ms));
  await set(0);
  const env = {
    MANUS_URL: gate.url,
    MANYHANDS_GATEWAY_PATIENCE_SECONDS: "20",
    SET_CLOCK: offset,
    BUN_OPTIONS: `--preload ${preload}`,
  };
  let gateway = await startGatewayServer(home, env);
  return {
    agent,
    gate,
    set,
    gateway: () => gateway,
    async restart() {
      await gateway.stop("SIGKILL");
      gateway = await startGatewayServer(home, env);
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop("SIGKILL");
      await gate[Symbol.asyncDispose]();
      await agent[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}

const isOver = async (gateway: GatewayServer, id: string) =>
  ["completed", "failed", "canceled"].includes((await gateway.call(`/runs/${id}`)).body.status);

for (const jump of [hour, -hour])
  for (const lives of ["one life", "two lives"])
    test(`a clock set by ${jump / hour} h, in ${lives}: the patience with an unreachable agent lasts as long as configured`, async () => {
      await using at = await place();
      await at.gate.close();
      const { runId } = (await at.gateway().call("/flows/sequential", { input: "x", agents: ["manus"] })).body;
      await Bun.sleep(3_000);
      await at.set(jump);
      if (lives === "two lives") await at.restart();
      await Bun.sleep(1_500);
      expect(await isOver(at.gateway(), runId)).toBe(false);
      at.gate.open();
      await until(() => isOver(at.gateway(), runId), 15_000);
      expect((await at.gateway().call(`/runs/${runId}`)).body).toMatchObject({ status: "completed" });
    });

for (const lives of ["one life", "two lives"])
  test(`a clock set forward by an hour, in ${lives}: no branch of \`parallel\` and no turn of \`debate\` is late for it`, async () => {
    await using at = await place();
    const start = async (flow: string, options: object) =>
      (await at.gateway().call(`/flows/${flow}`, { input: "x", ...options })).body.runId as string;
    const branches = [{ agent: "manus" }, { agent: "manus" }];
    const positions = [
      { agent: "manus", position: "Yes" },
      { agent: "manus", position: "No" },
    ];
    const runs = [
      await start("parallel", { options: { branches, deadlineMs: 30_000 } }),
      await start("debate", { options: { positions, rounds: 1, turnDeadlineMs: 30_000, judge: "manus" } }),
    ];
    await until(async () => (await at.agent.tasks()).length >= 4);
    await at.set(hour);
    if (lives === "two lives") await at.restart();
    for (const run of runs) {
      await until(() => isOver(at.gateway(), run), 40_000);
      expect((await at.gateway().call(`/runs/${run}`)).body.status).toBe("completed");
      const events = await (await fetch(`${at.gateway().url}/runs/${run}/events`)).text();
      expect(events).not.toContain("debater-absent");
    }
    const tasks = await at.agent.tasks();
    expect(tasks.map(({ status }) => status)).not.toContain("canceled");
  });
