import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { loadConfig } from "manyhands/internal/config/config";
import { freePort } from "manyhands/internal/http/free-port";
import { openTokens } from "manyhands/internal/server/storage/open-shared";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { grpcClient } from "../a2a/grpc-client.ts";
import { startGatewayServer, until } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";

const operator = "long-enough";

test("whoever's token is revoked reads no further in what they had open, and their runs go on", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-locked-out-"));
  const ask = { name: "ask_human", args: { inquire: "Who is it for?" } };
  const model = await startScriptedModel(() => ({ calls: [ask] }));
  const grpcPort = freePort();
  const env = { MANYHANDS_HOME: join(home, "state"), MANYHANDS_TOKEN: operator };
  const tokens = await openTokens(await loadConfig({ cwd: home, env }));
  const given = { name: "laptop", principal: "alice", scopes: ["read", "run"] } as const;
  const alice = { Authorization: `Bearer ${await tokens.add(given)}` };
  const models = { OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted" };
  const manus = startManus({ ...env, ...models, PORT: `${freePort()}`, GRPC_PORT: `${grpcPort}` });
  await manus.ready;
  const gateway = await startGatewayServer(home, { ...env, ...models, MANUS_URL: manus.url });
  using client = grpcClient(`127.0.0.1:${grpcPort}`);
  try {
    const { runId } = (await gateway.call("/flows/manus", { input: "Write a card" }, alice)).body;
    const asAlice = { Authorization: `Bearer ${operator}`, "Manyhands-Principal": "alice" };
    const state = async () => (await gateway.call(`/runs/${runId}`, undefined, asAlice)).body.status;
    await until(async () => (await state()) === "input-required");
    const own = { ...alice, "A2A-Version": "1.0" };
    const listed = await fetch(`${manus.url}/tasks`, { headers: own });
    const { tasks } = (await listed.json()) as { tasks: { id: string }[] };
    const task = tasks[0]?.id ?? "none";
    const rpc = (method: string) => ({
      ...{ method: "POST", headers: { ...alice, "Content-Type": "application/json" } },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id: task } }),
    });
    const opened: readonly [string, RequestInit][] = [
      [`${gateway.url}/changes`, { headers: alice }],
      [`${gateway.url}/runs/${runId}/events`, { headers: alice }],
      [`${gateway.url}/runs/${runId}/tree`, { headers: alice }],
      [`${manus.url}/live/${task}`, { headers: alice }],
      [`${manus.url}/tasks/${task}:subscribe`, { method: "POST", headers: own }],
      [`${manus.url}/`, rpc("SubscribeToTask")],
    ];
    const answers = await Promise.all(opened.map(([url, init]) => fetch(url, init)));
    expect(answers.map((answer) => answer.status)).toEqual(opened.map(() => 200));
    const call = client.stream(
      "subscribeToTask",
      { tenant: "", id: task },
      { metadata: { authorization: alice.Authorization } },
    );
    const refused = new Promise<{ code?: number }>((resolve) => void call.on("error", resolve));
    await new Promise((resolve) => call.once("data", resolve));
    await tokens.revoke("laptop");
    await Promise.all(answers.map((answer) => answer.text()));
    expect((await refused).code).toBe(status.UNAUTHENTICATED);
    expect(await state()).toBe("input-required");
  } finally {
    await tokens.close();
    await Promise.all([gateway.stop(), manus.stop(), model.close()]);
    await rm(home, { recursive: true });
  }
}, 60_000);
