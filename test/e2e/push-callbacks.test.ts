import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startGatewayServer, until } from "../servers/gateway-server.ts";
import { startReady } from "../servers/ready-process.ts";

const sample = resolve(import.meta.dir, "../servers/sdk-agent.fixture.ts");

test("an agent of another make notifies the gateway when its task is done, and nobody else can", async () => {
  const home = await mkdtemp(join(tmpdir(), "doorbell-"));
  const port = freePort();
  const PUBLIC_URL = `http://127.0.0.1:${port}`;
  const [gateway, agent] = await Promise.all([
    startGatewayServer(home, { PORT: `${port}`, PUBLIC_URL }),
    startReady([process.execPath, sample]),
  ]);
  try {
    await gateway.call("/agents", { url: agent.url });
    const started = performance.now();
    const { body } = await gateway.call("/flows/sequential", { input: "take 6 s", agents: ["sdk-sample"] });
    const path = `/runs/${body.runId}`;
    await until(async () => (await gateway.call(path)).body.status === "completed");
    // From two seconds on, polling alone would check it only every half minute.
    expect(performance.now() - started).toBeLessThan(25_000);
    const events = await (await fetch(`${gateway.url}${path}/events`)).text();
    expect(events.split("\n").filter((line) => line.includes('"agent-progressed"'))).toHaveLength(1);

    const ring = (token: string) =>
      fetch(`${gateway.url}/doorbell/${encodeURIComponent(`${body.runId}/0`)}`, {
        method: "POST",
        headers: { "X-A2A-Notification-Token": token },
        body: JSON.stringify({ statusUpdate: { taskId: "another", status: { state: "TASK_STATE_FAILED" } } }),
      });
    for (const token of ["", "wrong", "x".repeat(43)]) expect((await ring(token)).status).toBe(401);
    expect((await gateway.call(path)).body.status).toBe("completed");
  } finally {
    await Promise.all([gateway.stop("SIGKILL"), agent.stop("SIGKILL")]);
    await rm(home, { recursive: true });
  }
});
