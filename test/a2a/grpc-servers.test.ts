import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { freePort } from "manyhands/internal/http/free-port";
import { startGatewayServer } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";
import { failureOf, grpcClient, grpcMessage } from "./grpc-client.ts";
import type { Wire } from "./rpc.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-grpc-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** The gRPC interface of a card. */
async function grpcOf(url: string): Promise<Wire> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as Wire;
  return card.supportedInterfaces.find((one: Wire) => one.protocolBinding === "GRPC");
}

test("an agent with a port for gRPC serves it, says so in its card, and wants the token there too", async () => {
  const [port, grpcPort] = [freePort(), freePort()];
  const env = { MANYHANDS_HOME: home, PORT: `${port}`, GRPC_PORT: `${grpcPort}`, MANYHANDS_TOKEN: "long-enough" };
  const agent = startManus(env);
  await agent.ready;
  const { url, protocolVersion } = await grpcOf(agent.url);
  expect([url, protocolVersion]).toEqual([`127.0.0.1:${grpcPort}`, "1.0"]);
  using client = grpcClient(url);
  const metadata = { authorization: "Bearer long-enough" };
  const done = await client.call("sendMessage", grpcMessage("How many primes are below 1000?"), { metadata });
  expect(JSON.stringify(done)).toContain("168 primes");
  const list = { tenant: "", contextId: "", status: 0, pageToken: "" };
  expect((await failureOf(client.call("listTasks", list))).code).toBe(status.UNAUTHENTICATED);
  expect((await client.call("listTasks", list, { metadata })).tasks).toHaveLength(1);
  await agent.stop();
  expect(await agent.exited).toBe(0);
});

test("at the gateway one port serves every flow and agent by its tenant, and a port in use ends the start with the reason", async () => {
  const grpcPort = `${freePort()}`;
  const gateway = await startGatewayServer(join(home, "gateway"), { GRPC_PORT: grpcPort });
  const card = await grpcOf(`${gateway.url}/a2a/parallel`);
  expect(card).toMatchObject({ url: `127.0.0.1:${grpcPort}`, tenant: "parallel" });
  using client = grpcClient(card.url);
  const ids = { tenant: card.tenant, id: "none" };
  expect(await failureOf(client.call("getTask", ids))).toMatchObject({ reason: "TASK_NOT_FOUND" });
  const unknown = await failureOf(client.call("getTask", { ...ids, tenant: "nobody" }));
  expect(unknown).toMatchObject({ code: status.NOT_FOUND, reason: "NOT_FOUND" });
  const second = startGatewayServer(join(home, "second"), { GRPC_PORT: grpcPort });
  expect(await second.catch((error: Error) => error.message)).toContain(
    `gRPC cannot be served on 127.0.0.1:${grpcPort}`,
  );
  expect(await gateway.stop()).toBe(0);
});
