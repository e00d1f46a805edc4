import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentServer, startAgentServer } from "../a2a/agent-server.ts";
import { type GatewayServer, startGatewayServer, until } from "../e2e/gateway-server.ts";

let home: string;
let agent: AgentServer;
let gateway: GatewayServer;

const start = async () => {
  gateway = await startGatewayServer(home, { MANUS_URL: agent.url });
};
const database = () => {
  const opened = new Database(join(home, "state", "runs.db"));
  opened.run("PRAGMA busy_timeout = 5000");
  return opened;
};
const seen = async (id: string) => (await gateway.call(`/runs/${id}`)).body;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "gateway-storage-"));
  agent = await startAgentServer();
  await start();
});

afterAll(async () => {
  await gateway.stop("SIGKILL");
  await agent.stop();
  await rm(home, { recursive: true });
});

test("while the journal cannot be written new work is refused and why is told; then all goes on, and nothing is lost", async () => {
  const { runId } = (await gateway.call("/flows/manus", { input: "wait 500" })).body;
  await until(async () => (await agent.engine.list({ limit: 1 })).total === 1);
  const other = database();
  other.run("BEGIN IMMEDIATE");
  try {
    await until(async () => (await gateway.call("/healthz")).status === 503);
    const { storage } = (await gateway.call("/healthz")).body;
    expect(storage).toMatchObject({ ok: false, reason: expect.stringMatching(/\w/) });
    expect((await gateway.call("/readyz")).status).toBe(503);
    const refused = await gateway.call("/flows/manus", { input: "answer yes" });
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([503, "storage_unavailable", true]);
    // What is on disk can be read.
    expect(["running", "waiting"]).toContain((await seen(runId)).status);
  } finally {
    other.close();
  }
  await until(async () => (await gateway.call("/readyz")).status === 200);
  await until(async () => (await seen(runId)).status === "completed");
  expect((await seen(runId)).answer).toBe("waited");
  const { body } = await gateway.call("/flows/manus", { input: "answer yes" }, { Prefer: "wait=20" });
  expect([body.status, body.answer]).toEqual(["completed", "yes"]);
}, 60_000);

test("a flow whose code is another than the one that began it pauses and does nothing, and goes on once the code is right", async () => {
  const { id } = (await gateway.call("/flows/manus", { input: "ask What?" }, { Prefer: "wait=20" })).body;
  const tasks = (await agent.engine.list({ limit: 1 })).total;
  await gateway.stop("SIGKILL");
  const rename = (from: string, to: string) => {
    const journal = database();
    const { changes } = journal.run(
      "UPDATE journal SET name = ? WHERE name = ? AND run = (SELECT n FROM runs WHERE id = ?)",
      [to, from, id],
    );
    journal.close();
    expect(changes).toBe(1);
  };
  rename("find conversation", "find a conversation");
  await start();
  expect((await gateway.call(`/runs/${id}/answer`, { input: "this" })).status).toBe(202);
  await until(async () => (await seen(id)).status === "paused");
  expect((await seen(id)).error).toMatchObject({ code: "non_deterministic" });
  expect((await agent.engine.list({ limit: 1 })).total).toBe(tasks);
  await gateway.stop("SIGKILL");
  rename("find a conversation", "find conversation");
  await start();
  expect((await gateway.call(`/runs/${id}/resume`, {})).status).toBe(202);
  await until(async () => (await seen(id)).status === "completed");
  expect((await seen(id)).answer).toBe("heard this");
}, 60_000);
