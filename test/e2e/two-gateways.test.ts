import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentServer, startAgentServer } from "../a2a/agent-server.ts";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";

let home: string;
let agent: AgentServer;
const gateways: GatewayServer[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "two-gateways-"));
  agent = await startAgentServer();
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop("SIGKILL")));
  await agent.stop();
  await rm(home, { recursive: true });
});

async function gateway(): Promise<GatewayServer> {
  const started = await startGatewayServer(home, { MANUS_URL: agent.url });
  gateways.push(started);
  return started;
}

const statuses = async ({ call }: GatewayServer): Promise<string[]> =>
  (await call("/runs?limit=200")).body.runs.map((run: { status: string }) => run.status);

test("two gateways on one home share its runs: after a kill the other finishes what one had accepted, each once", async () => {
  const [first, second] = [await gateway(), await gateway()];
  const request = (n: number) => ({ input: `wait ${200 + n * 20}`, agents: ["manus"] });
  const accepted = await Promise.all(
    Array.from({ length: 20 }, (_, n) => first.call("/flows/sequential", request(n), { "Idempotency-Key": `k-${n}` })),
  );
  expect(accepted.map(({ status }) => status)).toEqual(Array(20).fill(202));
  await first.stop("SIGKILL");
  await until(async () => (await statuses(second)).every((status) => status === "completed"));
  expect(await statuses(second)).toHaveLength(20);
  // Every step was asked once: the agent has as many tasks as there were steps.
  expect((await agent.engine.list({ limit: 100 })).total).toBe(20);
  const again = await second.call("/flows/sequential", request(3), { "Idempotency-Key": "k-3" });
  expect(again.body.runId).toBe(accepted[3]?.body.runId);
});

test("a stopping gateway accepts nothing more, ends in time, and the other continues its runs at once", async () => {
  const [first, second] = [await gateway(), await gateway()];
  const { total } = await agent.engine.list({ limit: 1 });
  const started = await Promise.all(
    [1, 2, 3].map(() => first.call("/flows/sequential", { input: "wait 1500", agents: ["manus", "manus"] })),
  );
  await until(async () => (await agent.engine.list({ limit: 1 })).total >= total + 3);
  const from = performance.now();
  expect(await first.stop("SIGTERM")).toBe(0);
  expect(performance.now() - from).toBeLessThan(8_000);
  const ids: string[] = started.map(({ body }) => body.runId);
  const ended = async (id: string) => (await second.call(`/runs/${id}`)).body.status === "completed";
  await until(async () => (await Promise.all(ids.map(ended))).every(Boolean), 15_000);
  expect((await agent.engine.list({ limit: 1 })).total).toBe(total + 6);
});

test("a gateway suspended past its lease finds its runs done, and changes nothing in them", async () => {
  const [first, second] = [await gateway(), await gateway()];
  const started = await first.call("/flows/manus", { input: "wait 1500" });
  const { runId } = started.body;
  // If stopped in the middle of a write, it would hold the file's lock; this test needs an expiring
  // lease.
  await until(async () => (await first.call(`/runs/${runId}`)).body.lastEvent >= 5);
  process.kill(first.pid, "SIGSTOP");
  const seen = async () => (await second.call(`/runs/${runId}`)).body;
  await until(async () => (await seen()).status === "completed", 40_000);
  const before = await seen();
  process.kill(first.pid, "SIGCONT");
  await until(async () => (await first.call(`/runs/${runId}`)).body.status === "completed");
  // Gives its pending writes time to be refused.
  await Bun.sleep(300);
  expect(await seen()).toEqual(before);
  const events = await (await fetch(`${second.url}/runs/${runId}/events`)).text();
  expect(events.match(/"run-ended"/g)).toHaveLength(1);
});

test("an agent registered at one gateway is available at the other", async () => {
  const [first, second] = [await gateway(), await gateway()];
  expect((await first.call("/agents", { url: agent.url, name: "another" })).status).toBe(201);
  await until(async () =>
    (await second.call("/agents")).body.agents.some(({ name }: { name: string }) => name === "another"),
  );
});
