import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentServer, startAgentServer } from "../a2a/agent-server.ts";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";

let home: string;
let agent: AgentServer;
let gateway: GatewayServer;

const start = async () => {
  gateway = await startGatewayServer(home, { MANUS_URL: agent.url });
};
const open = (path: string) => {
  const opened = new Database(path);
  opened.run("PRAGMA busy_timeout = 5000");
  return opened;
};
const database = () => open(join(home, "state", "runs.db"));
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

test("while the journal cannot be written, new work is refused with the reason; then everything continues, and nothing is lost", async () => {
  const { runId } = (await gateway.call("/flows/manus", { input: "wait 500" })).body;
  await until(async () => (await agent.engine.list({ limit: 1 })).total === 1);
  const other = database();
  other.run("BEGIN IMMEDIATE");
  try {
    await until(async () => (await gateway.call("/readyz")).status === 503);
    // It is alive: a restart would not fix its disk.
    const { status, body } = await gateway.call("/healthz");
    expect([status, body.ok]).toEqual([200, false]);
    expect(body.storage).toMatchObject({ ok: false, reason: expect.stringMatching(/\w/) });
    const refused = await gateway.call("/flows/manus", { input: "answer yes" });
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([503, "storage_unavailable", true]);
    // Data on disk can be read.
    expect(["running", "waiting"]).toContain((await seen(runId)).status);
  } finally {
    other.close();
  }
  await until(async () => (await gateway.call("/readyz")).status === 200);
  await until(async () => (await seen(runId)).status === "completed");
  expect((await seen(runId)).answer).toBe("waited");
  const { body } = await gateway.call("/flows/manus", { input: "answer yes" }, { Prefer: "wait=20" });
  expect([body.status, body.answer]).toEqual(["completed", "yes"]);
});

test("a flow whose code has changed since it started pauses and does nothing, and continues once the code is right", async () => {
  const { id } = (await gateway.call("/flows/manus", { input: "ask What?" }, { Prefer: "wait=20" })).body;
  const tasks = (await agent.engine.list({ limit: 1 })).total;
  await gateway.stop("SIGKILL");
  const renameStep = (from: string, to: string) => {
    const journal = database();
    const { changes } = journal.run(
      "UPDATE journal SET name = ? WHERE name = ? AND run = (SELECT n FROM runs WHERE id = ?)",
      [to, from, id],
    );
    journal.close();
    expect(changes).toBe(1);
  };
  renameStep("find conversation", "find a conversation");
  await start();
  expect((await gateway.call(`/runs/${id}/answer`, { input: "this" })).status).toBe(202);
  await until(async () => (await seen(id)).status === "paused");
  expect((await seen(id)).error).toMatchObject({ code: "non_deterministic" });
  expect((await agent.engine.list({ limit: 1 })).total).toBe(tasks);
  await gateway.stop("SIGKILL");
  renameStep("find a conversation", "find conversation");
  await start();
  expect((await gateway.call(`/runs/${id}/resume`, {})).status).toBe(202);
  await until(async () => (await seen(id)).status === "completed");
  expect((await seen(id)).answer).toBe("heard this");
});

test("a damaged journal is never overwritten: the gateway says so, accepts nothing, and works once a good one is restored", async () => {
  const folder = join(home, "damaged");
  const path = join(folder, "state", "runs.db");
  const damaged = Buffer.alloc(8192, "no database ");
  await Bun.write(path, damaged);
  const server = await startGatewayServer(folder, { MANUS_URL: agent.url });
  try {
    const { status, body } = await server.call("/healthz");
    expect([status, body.storage.ok, body.storage.reason]).toEqual([200, false, expect.stringMatching(/database/)]);
    expect((await server.call("/readyz")).status).toBe(503);
    const refused = await server.call("/flows/manus", { input: "answer yes" });
    expect([refused.status, refused.body.code]).toEqual([503, "storage_unavailable"]);
    expect(Buffer.from(await Bun.file(path).bytes()).equals(damaged)).toBe(true);
    await rename(path, `${path}.damaged`);
    await until(async () => (await server.call("/readyz")).status === 200);
    const { body: run } = await server.call("/flows/manus", { input: "answer yes" }, { Prefer: "wait=20" });
    expect(run.status).toBe("completed");
  } finally {
    await server.stop("SIGKILL");
  }
});

/**
 * Runs a command in a separate mount namespace, where a small file system can be mounted that
 * disappears with it.
 */
const namespace = ["unshare", "--mount", ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"])];

function canMount(): boolean {
  try {
    return Bun.spawnSync([...namespace, "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).exitCode === 0;
  } catch {
    return false;
  }
}

/** Fills a file system completely; returns a function that frees it. */
function fill(folder: string): () => void {
  const path = join(folder, "filler");
  const file = openSync(path, "w");
  for (let size = 1 << 16; size > 0; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size >>= 1;
    }
  }
  closeSync(file);
  return () => rmSync(path);
}

/**
 * Takes the journal's lock, which another writer may hold for any time; returns a function that
 * releases it.
 */
function lock(folder: string): () => void {
  const other = open(join(folder, "state", "runs.db"));
  other.run("BEGIN IMMEDIATE");
  return () => other.close();
}

test("a full disk ends no run: it pauses, new work is refused, and once there is room both continue", async () => {
  const folder = join(home, "small");
  await mkdir(folder);
  const isMounted = canMount();
  const mount = 'mount -t tmpfs -o size=4m tmpfs "$1" && shift && exec "$@"';
  const through = isMounted ? [...namespace, "sh", "-c", mount, "sh", folder] : [];
  const server = await startGatewayServer(folder, { MANUS_URL: agent.url }, through);
  try {
    const { runId } = (await server.call("/flows/manus", { input: "wait 3000" })).body;
    const status = async () => (await server.call(`/runs/${runId}`)).body.status;
    await until(async () => (await status()) !== "queued");
    // Only the gateway's process sees its file system, so it is reached through that process. If
    // none can be mounted, a lock replaces the full disk.
    const makeRoom = isMounted ? fill(`/proc/${server.pid}/root${folder}`) : lock(folder);
    const start = (input: string) => server.call("/flows/manus", { input });
    await until(async () => (await start("answer yes")).status === 503);
    expect((await start("answer yes")).body.code).toBe("storage_unavailable");
    expect((await server.call("/healthz")).body.storage.ok).toBe(false);
    expect(["running", "waiting"]).toContain(await status());
    makeRoom();
    const statuses = async () => (await server.call("/runs")).body.runs.map((run: { status: string }) => run.status);
    await until(async () => (await server.call("/readyz")).status === 200);
    expect((await start("answer yes")).status).toBe(202);
    await until(async () => (await statuses()).every((status: string) => status === "completed"));
  } finally {
    await server.stop("SIGKILL");
  }
});
