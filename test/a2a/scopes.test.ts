import { afterAll, beforeAll, expect, test } from "bun:test";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { status } from "@grpc/grpc-js";
import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { cardSecurity } from "manyhands/internal/auth/security";
import { legacySchemas } from "../../shared/src/a2a/server/legacy-schema.ts";
import { requestSchemas } from "../../shared/src/a2a/server/request-schema.ts";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { failureOf, grpcClient, grpcMessage } from "./grpc-client.ts";
import { wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  const webhooks = createWebhooks({ allow: [], deny: [], only: [] });
  server = await startAgentServer({ security: cardSecurity(), webhooks });
});
afterAll(() => server.stop());

/** The scope each method takes; `none` is open to every caller that is known. */
const methods: Readonly<Record<string, "read" | "run" | "none">> = {
  SendMessage: "run",
  SendStreamingMessage: "run",
  GetTask: "read",
  ListTasks: "read",
  CancelTask: "run",
  SubscribeToTask: "read",
  CreateTaskPushNotificationConfig: "run",
  GetTaskPushNotificationConfig: "read",
  ListTaskPushNotificationConfigs: "read",
  DeleteTaskPushNotificationConfig: "run",
  GetExtendedAgentCard: "none",
  "message/send": "run",
  "message/stream": "run",
  "tasks/get": "read",
  "tasks/cancel": "run",
  "tasks/resubscribe": "read",
  "tasks/pushNotificationConfig/set": "run",
  "tasks/pushNotificationConfig/get": "read",
  "tasks/pushNotificationConfig/list": "read",
  "tasks/pushNotificationConfig/delete": "run",
  "agent/getAuthenticatedExtendedCard": "none",
};

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "answer x" }] };
const legacyMessage = { messageId: "m", role: "user", kind: "message", parts: [{ kind: "text", text: "answer x" }] };
const url = "https://example.com/hook";

function paramsOf(method: string): object {
  if (/^SendM|^SendS/.test(method)) return { message };
  if (method.startsWith("message/")) return { message: legacyMessage };
  if (method === "ListTasks") return {};
  if (method.startsWith("tasks/pushNotificationConfig"))
    return { id: "t", taskId: "t", pushNotificationConfigId: "c", pushNotificationConfig: { url } };
  return { id: "t", taskId: "t", url };
}

const call = (method: string, granted: string, user = "alice") =>
  fetch(server.url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "A2A-Version": method.includes("/") ? "0.3" : "1.0",
      "X-User": user,
      "X-Scopes": granted,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: paramsOf(method) }),
  });

test("every method of either version has a scope here", () => {
  expect(Object.keys(methods).toSorted()).toEqual(
    [...Object.keys(requestSchemas), ...Object.keys(legacySchemas)].toSorted(),
  );
});

test.each(Object.entries(methods))("%s takes the scope %s, and says so to whoever lacks it", async (method, scope) => {
  const others = scope === "none" ? "" : scope === "run" ? "read" : "run";
  const lacking = await call(method, others);
  const body = await lacking.text();
  if (scope === "none") return expect(lacking.status).toBe(200);
  expect([lacking.status, lacking.headers.get("WWW-Authenticate")]).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="${scope}"`,
  ]);
  expect(body).toContain(`the scope \`${scope}\``);
  for (const enough of [scope, "admin"]) {
    const allowed = await call(method, enough);
    await allowed.body?.cancel();
    expect([enough, allowed.status]).toEqual([enough, 200]);
  }
});

const paths: readonly (readonly [string, string, "read" | "run"])[] = [
  ["POST", "/message:send", "run"],
  ["POST", "/message:stream", "run"],
  ["POST", "/tasks/t:cancel", "run"],
  ["GET", "/tasks/t:subscribe", "read"],
  ["POST", "/tasks/t:subscribe", "read"],
  ["GET", "/tasks", "read"],
  ["GET", "/tasks/t", "read"],
  ["POST", "/tasks/t/pushNotificationConfigs", "run"],
  ["GET", "/tasks/t/pushNotificationConfigs", "read"],
  ["GET", "/tasks/t/pushNotificationConfigs/c", "read"],
  ["DELETE", "/tasks/t/pushNotificationConfigs/c", "run"],
  ["GET", `/artifacts/${"0".repeat(64)}/x`, "read"],
];

test.each(paths)("%s %s takes the scope %s", async (method, path, scope) => {
  const ask = (granted: string) =>
    fetch(server.url + path, {
      method,
      headers: {
        "Content-Type": "application/json",
        "A2A-Version": "1.0",
        "X-User": "alice",
        "X-Scopes": granted,
      },
      ...(method === "POST" && { body: JSON.stringify(path.startsWith("/message") ? { message } : { url }) }),
    });
  const lacking = await ask(scope === "run" ? "read" : "run");
  expect([lacking.status, lacking.headers.get("WWW-Authenticate")]).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="${scope}"`,
  ]);
  expect(await lacking.text()).toContain(`the scope \`${scope}\``);
  const allowed = await ask(scope);
  await allowed.body?.cancel();
  expect([200, 404]).toContain(allowed.status);
});

test("whom nobody knows is refused with a challenge by every method and every path", async () => {
  for (const method of Object.keys(methods)) {
    const { status: code, headers } = await call(method, "admin", "nobody");
    expect([method, code, headers.get("WWW-Authenticate")]).toEqual([method, 401, "Bearer"]);
  }
  for (const [method, path] of [...paths, ["GET", "/extendedAgentCard"] as const]) {
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0", "X-User": "nobody" };
    const answer = await fetch(server.url + path, { method, headers });
    expect([path, answer.status, answer.headers.get("WWW-Authenticate")]).toEqual([path, 401, "Bearer"]);
  }
  using client = grpcClient(server.grpc);
  const names = Object.keys(A2AService) as (keyof typeof A2AService)[];
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) {
    const metadata = { "x-user": "nobody" };
    const list = { contextId: "", status: 0, pageSize: 0, pageToken: "" };
    const request = { tenant: "", id: "t", taskId: "t", url: "", token: "", ...list, ...grpcMessage("answer x") };
    const called = A2AService[name].responseStream
      ? Array.fromAsync(client.stream(name, request, { metadata }))
      : client.call(name, request, { metadata });
    expect([name, (await failureOf(called)).code]).toEqual([name, status.UNAUTHENTICATED]);
  }
});

test("the extended card tells a caller who it is and what it may do", async () => {
  const answer = await wire(call("GetExtendedAgentCard", "read"));
  const own = answer.result.capabilities.extensions.find(({ uri }: { uri: string }) => uri.endsWith("caller:1"));
  expect(own.params).toEqual({ principal: "alice", scopes: ["read"] });
  const path = { headers: { "A2A-Version": "1.0", "X-User": "alice" } };
  const overRest = await wire(fetch(`${server.url}/extendedAgentCard`, path));
  expect(overRest.capabilities.extendedAgentCard).toBe(true);
  expect((await fetch(`${server.url}/extendedAgentCard`, { headers: { "X-User": "nobody" } })).status).toBe(401);
});

test("a server without authentication has no extended card", async () => {
  const open = await startAgentServer();
  const card = await wire(fetch(`${open.url}/.well-known/agent-card.json`));
  expect(card.capabilities.extendedAgentCard ?? false).toBe(false);
  expect((await fetch(`${open.url}/extendedAgentCard`, { headers: { "A2A-Version": "1.0" } })).status).not.toBe(200);
  await open.stop();
});
