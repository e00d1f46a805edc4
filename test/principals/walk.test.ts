import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { callerNamed } from "manyhands/internal/core/caller";
import { startGateway, type TestGateway } from "../../gateway/src/testing/gateway.ts";
import { legacySchemas } from "../../shared/src/a2a/server/legacy-schema.ts";
import { requestSchemas } from "../../shared/src/a2a/server/request-schema.ts";
import { mcpServer } from "../../shared/src/mcp/server/mcp-server.ts";
import { type AgentServer, startAgentServer } from "../a2a/agent-server.ts";
import { eventually, rpc } from "../a2a/rpc.ts";
import { type Receiver, startReceiver } from "../a2a/webhook.ts";
import { a2aPublicRoutes, a2aRoutes, legacyMethods, methods } from "./a2a-calls.ts";
import {
  gatewayOperatorRoutes,
  gatewayOtherRoutes,
  gatewayPublicRoutes,
  gatewayRoutes,
  initialize,
  mcpCalls,
  mcpMethods,
  mcpTools,
} from "./gateway-calls.ts";
import { type Calls, type Ids, unusedIds } from "./ids.ts";
import { answerTo, differences, type Face, remembered, routesOf, storedOf } from "./walk.ts";

const secret = "what only alice knows";
let hook: Receiver;
let agent: AgentServer;
let gateway: TestGateway;
/** The agent, the gateway, and the A2A server of a flow at the gateway. */
let faces: { readonly agent: Face; readonly gateway: Face; readonly flow: Face };
beforeAll(async () => {
  hook = startReceiver();
  const [ofAgent, ofGateway] = [remembered(), remembered()];
  agent = await startAgentServer({
    engine: ofAgent.wrap,
    webhooks: createWebhooks({ allow: [hook.host], deny: [], only: [] }),
  });
  gateway = await startGateway({
    toml: '[memory]\nprincipals = ["*"]\n',
    engine: ofGateway.wrap,
    app: { identify: ({ headers }) => callerNamed(headers.get("X-User") ?? "local", ["read", "run"]) },
  });
  faces = {
    agent: { url: agent.url, engine: agent.engine, asked: ofAgent.asked },
    gateway: { url: gateway.url, engine: gateway.engine, asked: ofGateway.asked },
    flow: { url: `${gateway.url}/a2a/echo`, engine: gateway.engine, asked: ofGateway.asked },
  };
});
afterAll(async () => {
  await agent.stop();
  await gateway[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

/**
 * Gives alice a task with a file, in a conversation, by its first words; where it can, with a
 * receiver.
 */
async function taskOfAlice(face: Face, words: string): Promise<Ids> {
  const [messageId, contextId, receiver] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const file = new TextEncoder().encode(`${secret} ${messageId}`);
  const parts = [{ text: `${words} ${secret}` }, { raw: Buffer.from(file).toString("base64"), filename: "a.txt" }];
  const message = { messageId, contextId, role: "ROLE_USER", parts };
  const { body } = await rpc(face.url, "SendMessage", { message }, { user: "alice" });
  const task: string = body.result.task.id;
  await eventually(async () => {
    const run = await face.engine.get(task);
    // A flow also waits for its agents.
    return run?.status === "completed" || run?.waiting?.reason === "input-required" || undefined;
  });
  face.asked.watch(task);
  const config = { taskId: task, id: receiver, url: hook.url };
  await rpc(face.url, "CreateTaskPushNotificationConfig", config, { user: "alice" });
  const sha256 = new Bun.CryptoHasher("sha256").update(file).digest("hex");
  return { task, contextId, messageId, receiver, sha256, session: "none", chat: "none", memory: "none" };
}

async function session(user: string): Promise<string> {
  const { method = "", headers = {}, path, body } = initialize;
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { "X-User": user, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

async function memoryOfAlice(): Promise<string> {
  const entry = { text: `Lilacs: ${secret}` };
  const { body } = await answerTo(faces.gateway, { method: "POST", path: "/memory", body: entry }, "alice");
  return JSON.parse(body).id;
}

/**
 * Walks every route of a table as bob with what alice has: nothing differs, and nothing of hers
 * changes.
 */
async function walk(face: Face, table: Readonly<Record<string, Calls>>, alices: Ids): Promise<void> {
  const before = await storedOf(face.engine, "alice");
  expect(JSON.stringify(before)).toContain(alices.task);
  const known = { others: alices, unused: unusedIds() };
  const found: object[] = [];
  for (const route of Object.entries(table)) found.push(...(await differences(face, route, known, "bob")));
  expect(found).toEqual([]);
  expect(await storedOf(face.engine, "alice")).toEqual(before);
}

/**
 * Whether the routes that are read by ids tell their owner something, so that the walk is not one
 * past closed doors.
 */
async function expectOwn(face: Face, table: Readonly<Record<string, Calls>>, alices: Ids): Promise<void> {
  for (const [route, calls] of Object.entries(table).filter(([route]) => route.startsWith("GET ")))
    for (const call of calls(alices)) {
      // A stream of a task that waits does not end, no receiver was given up, the task has written
      // no file into its workspace, no page is open, nothing starts by itself, and no model was
      // asked.
      if (
        /events$|request$|tree$|archive$|live$|:subscribe$|^\/(deliveries|schedules|triggers)\/|\/file\?/.test(
          call.path,
        )
      )
        continue;
      const { status } = await answerTo(face, call, "alice");
      expect([route, [200, 206, 304].includes(status)]).toEqual([route, true]);
    }
}

test("the table of an agent's routes has every route, and every method of both versions", () => {
  expect(routesOf(agent.routes)).toEqual([...Object.keys(a2aRoutes), ...a2aPublicRoutes].sort());
  expect(Object.keys(methods)).toEqual(Object.keys(requestSchemas));
  expect(Object.keys(legacyMethods)).toEqual(Object.keys(legacySchemas));
});

test("the table of the gateway's routes has every route", () => {
  const known = [
    ...Object.keys(gatewayRoutes),
    ...gatewayPublicRoutes,
    ...gatewayOtherRoutes,
    ...gatewayOperatorRoutes,
    ...["ALL /mcp", "ALL /a2a/*"],
  ];
  expect(routesOf(gateway.routes)).toEqual(known.sort());
});

test("a caller who may read and run reaches nothing of the operator's", async () => {
  const statuses = gatewayOperatorRoutes.map(async (route) => {
    const [method = "", path = ""] = route.replaceAll(/:\w+/g, "a").split(" ");
    const { status } = await answerTo(faces.gateway, { method, path, ...(method === "POST" && { body: {} }) }, "bob");
    return [route, status];
  });
  expect(await Promise.all(statuses)).toEqual(gatewayOperatorRoutes.map((route) => [route, 403]));
});

for (const [state, words] of [
  ["asks something", "ask"],
  ["has ended", "answer"],
] as const) {
  for (const name of ["agent", "flow"] as const)
    test(`a task of another that ${state} is nobody's over A2A, at ${name === "agent" ? "an agent" : "a flow"}`, async () => {
      const face = faces[name];
      const alices = await taskOfAlice(face, words);
      await walk(face, a2aRoutes, alices);
      if (name === "agent") await expectOwn(face, a2aRoutes, alices);
    });

  test(`a run of another that ${state} is nobody's at the gateway`, async () => {
    const chat = `answer ${crypto.randomUUID()}`;
    const said = { model: "echo", messages: [{ role: "user", content: chat }] };
    await answerTo(faces.gateway, { method: "POST", path: "/v1/chat/completions", body: said }, "alice");
    const alices = {
      ...(await taskOfAlice(faces.flow, words)),
      session: await session("alice"),
      chat,
      memory: await memoryOfAlice(),
    };
    await walk(faces.gateway, gatewayRoutes, alices);
    await walk(faces.gateway, { "ALL /mcp": mcpCalls(await session("bob")) }, alices);
    await expectOwn(faces.gateway, gatewayRoutes, alices);
  });
}

test("the table of MCP methods has every method that our server handles", () => {
  const deps = { version: "1", runnables: { all: () => [], ofKind: () => undefined } } as never;
  const handled = (["legacy", "modern"] as const).flatMap((era) => {
    const { server } = mcpServer(deps, era, "bob");
    return [...(Reflect.get(server, "_requestHandlers") as Map<string, unknown>).keys()];
  });
  expect(handled).toContain("tools/call");
  expect(handled.filter((method) => !Object.hasOwn(mcpMethods, method))).toEqual([]);
});

test("the tools of the MCP server are those of the table", async () => {
  const call = { ...initialize, body: { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} } };
  const headers = { ...call.headers, "mcp-session-id": await session("bob"), "mcp-protocol-version": "2025-11-25" };
  const { body } = await answerTo(faces.gateway, { ...call, headers }, "bob");
  const names = [...body.matchAll(/"name":"([a-z_]+)","(?:title|description)"/g)].map(([, name]) => name);
  expect(names.sort()).toEqual(Object.keys(mcpTools).sort());
});

test("routes without ids show nothing of anybody", async () => {
  const alices = await taskOfAlice(faces.agent, "ask");
  await taskOfAlice(faces.flow, "ask");
  const shown = async (face: Face, routes: readonly string[]) => {
    for (const route of routes.filter((one) => one.startsWith("GET "))) {
      const path = route.slice(4).replace(":card{agent(?:-card)?\\.json}", "agent-card.json").replace(":name", "echo");
      const response = await fetch(`${face.url}${path.replace(/:file\{.*\}/, "main.js")}`, {
        headers: { "X-User": "bob" },
      });
      // A colour that scripts for charts name.
      const text = (await response.text()).replaceAll("aliceblue", "");
      for (const word of [secret, alices.task, alices.contextId, "alice"])
        expect([route, text.includes(word)]).toEqual([route, false]);
    }
  };
  await shown(faces.agent, a2aPublicRoutes);
  await shown(faces.gateway, gatewayPublicRoutes);
});
