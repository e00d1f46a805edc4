import { fileRoutes } from "./a2a-calls.ts";
import type { Call, Calls, Ids } from "./ids.ts";

const version = "2025-11-25";
const accept = "application/json, text/event-stream";

/** The parameters with which a method of MCP can be asked for what ids name. */
type Params = (ids: Ids) => readonly object[];

const runTool =
  (name: string, more: object = {}) =>
  (ids: Ids) => ({
    name,
    arguments: { run_id: ids.task, ...more },
  });

/** Every tool of the gateway's MCP server that ids go into. */
export const mcpTools: Readonly<Record<string, (ids: Ids) => object>> = {
  run_status: runTool("run_status"),
  run_answer: runTool("run_answer", { answer: "yes" }),
  run_cancel: runTool("run_cancel"),
  echo: () => ({ name: "echo", arguments: { task: "hello" } }),
};

const uris = ({ task, sha256 }: Ids) => [
  { uri: `manyhands://runs/${task}` },
  { uri: `http://127.0.0.1/artifacts/${sha256}/a.txt` },
];

/** Every method of MCP that our server handles, and the clients' notifications. */
export const mcpMethods: Readonly<Record<string, Params>> = {
  ping: () => [],
  initialize: () => [],
  "server/discover": () => [],
  "subscriptions/listen": () => [],
  "notifications/initialized": () => [],
  "notifications/cancelled": () => [],
  "notifications/progress": () => [],
  "logging/setLevel": () => [],
  "tools/list": () => [],
  "tools/call": (ids) => Object.values(mcpTools).map((tool) => tool(ids)),
  "resources/list": () => [{}],
  "resources/templates/list": () => [],
  "resources/read": uris,
  "resources/subscribe": uris,
  "resources/unsubscribe": uris,
  "prompts/list": () => [],
  "prompts/get": () => [],
  "completion/complete": ({ task }) => [
    { ref: { type: "ref/resource", uri: "manyhands://runs/{run}" }, argument: { name: "run", value: task } },
  ],
};

/**
 * Requests to the MCP server: in a session of the caller's own, and in the one that the ids name.
 */
export const mcpCalls =
  (ownSession: string): Calls =>
  (ids) => {
    const call = (session: string, more: Record<string, string>, body?: unknown, method = "POST"): Call => ({
      method,
      path: "/mcp",
      headers: { accept, "mcp-protocol-version": version, "mcp-session-id": session, ...more },
      body,
    });
    const methods = Object.entries(mcpMethods).flatMap(([method, params]) =>
      params(ids).map((given, n) => ({
        ...call(
          ownSession,
          { "Manyhands-Context": ids.contextId },
          { jsonrpc: "2.0", id: n + 2, method, params: given },
        ),
        name: `${method} ${n + 1}`,
      })),
    );
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    return [
      ...methods,
      { ...call(ids.session, {}, ping), name: "another's session" },
      { ...call(ids.session, { "Last-Event-ID": "1" }, undefined, "GET"), name: "another's stream" },
      { ...call(ids.session, {}, undefined, "DELETE"), name: "the end of another's session" },
    ];
  };

/** The request that begins a session. */
export const initialize: Call = {
  method: "POST",
  path: "/mcp",
  headers: { accept },
  body: {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "t", version: "1" } },
  },
};

const answers = { input: "yes" };

/** Every route of the gateway that ids go into, except those of `/mcp` and `/a2a`. */
export const gatewayRoutes: Readonly<Record<string, Calls>> = {
  ...fileRoutes,
  "POST /v1/chat/completions": ({ chat }) =>
    [false, true].map((stream) => ({
      name: stream ? "stream" : "whole",
      method: "POST",
      path: "/v1/chat/completions",
      body: {
        model: "echo",
        stream,
        messages: [
          { role: "user", content: chat },
          { role: "assistant", content: chat },
          { role: "user", content: "answer again" },
        ],
      },
    })),
  "POST /flows/:name": ({ contextId, messageId }) => [
    {
      name: "conversation",
      method: "POST",
      path: "/flows/echo",
      headers: { prefer: "wait=5" },
      body: { input: "hello", contextId },
    },
    {
      name: "key",
      method: "POST",
      path: "/flows/echo",
      headers: { prefer: "wait=5", "idempotency-key": messageId },
      body: { input: "hello" },
    },
  ],
  "GET /deliveries": () => [{ path: "/deliveries?state=all" }],
  "GET /deliveries/:id": ({ receiver }) => [{ path: `/deliveries/${receiver}` }],
  "POST /deliveries/:id/retry": ({ receiver }) => [{ method: "POST", path: `/deliveries/${receiver}/retry` }],
  "GET /schedules": () => [{ path: "/schedules" }],
  "POST /schedules": ({ task }) => [
    {
      method: "POST",
      path: "/schedules",
      body: { name: "daily", cron: "0 8 * * *", start: "echo", task: "hello", notify: [task] },
    },
  ],
  "GET /schedules/:name": ({ task }) => [{ path: `/schedules/${task}` }],
  "DELETE /schedules/:name": ({ task }) => [{ method: "DELETE", path: `/schedules/${task}` }],
  "POST /schedules/:name/pause": ({ task }) => [{ method: "POST", path: `/schedules/${task}/pause` }],
  "POST /schedules/:name/resume": ({ task }) => [{ method: "POST", path: `/schedules/${task}/resume` }],
  "POST /schedules/:name/run": ({ task }) => [{ method: "POST", path: `/schedules/${task}/run` }],
  "GET /triggers": () => [{ path: "/triggers" }],
  "GET /triggers/:name": ({ task }) => [{ path: `/triggers/${task}` }],
  "POST /triggers/:name/pause": ({ task }) => [{ method: "POST", path: `/triggers/${task}/pause` }],
  "POST /triggers/:name/resume": ({ task }) => [{ method: "POST", path: `/triggers/${task}/resume` }],
  "POST /hooks/:name": ({ task }) => [{ method: "POST", path: `/hooks/${task}`, body: {} }],
  "GET /notify": () => [{ path: "/notify" }],
  "POST /notify/:name/test": ({ task }) => [{ method: "POST", path: `/notify/${task}/test` }],
  "POST /runs/:id/notify": ({ task }) => [
    { method: "POST", path: `/runs/${task}/notify`, body: { targets: ["nobody"] } },
  ],
  "GET /browser/profiles": () => [{ path: "/browser/profiles" }],
  "DELETE /browser/profiles/:name": ({ task }) => [{ method: "DELETE", path: `/browser/profiles/${task}` }],
  "GET /usage": () => [{ path: "/usage" }],
  "GET /memory": () => [{ path: "/memory" }, { name: "search", path: "/memory?q=lilacs" }],
  "GET /memory/:id": ({ memory }) => [{ path: `/memory/${memory}` }],
  "POST /memory/:id": ({ memory }) => [{ method: "POST", path: `/memory/${memory}`, body: { text: "Mine now." } }],
  "DELETE /memory/:id": ({ memory }) => [{ method: "DELETE", path: `/memory/${memory}` }],
  "GET /runs": ({ contextId }) => [
    { path: `/runs?contextId=${contextId}` },
    { name: "waiting", path: `/runs?contextId=${contextId}&status=input-required` },
  ],
  "GET /runs/:id": ({ task }) => [{ path: `/runs/${task}` }],
  "GET /runs/:id/events": ({ task }) => [
    { path: `/runs/${task}/events` },
    { name: "after", path: `/runs/${task}/events`, headers: { "Last-Event-ID": "1" } },
  ],
  "GET /runs/:id/events/:seq": ({ task }) => [{ path: `/runs/${task}/events/1` }],
  "GET /runs/:id/events/:seq/request": ({ task }) => [{ path: `/runs/${task}/events/1/request` }],
  "GET /runs/:id/export": ({ task }) => [{ path: `/runs/${task}/export` }],
  "GET /runs/:id/files": ({ task }) => [{ path: `/runs/${task}/files` }],
  "GET /runs/:id/file": ({ task }) => [{ path: `/runs/${task}/file?path=a.md` }],
  "GET /runs/:id/archive": ({ task }) => [{ path: `/runs/${task}/archive` }],
  "GET /runs/:id/live": ({ task }) => [{ path: `/runs/${task}/live` }],
  "POST /runs/:id/live": ({ task }) => [{ method: "POST", path: `/runs/${task}/live`, body: { do: "take" } }],
  "GET /runs/:id/tree": ({ task }) => [{ path: `/runs/${task}/tree` }],
  "POST /runs/:id/rerun": ({ task }) => [{ method: "POST", path: `/runs/${task}/rerun`, body: {} }],
  "POST /runs/:id/shares": ({ task }) => [{ method: "POST", path: `/runs/${task}/shares`, body: {} }],
  "GET /shares": ({ task }) => [{ path: `/shares?runId=${task}` }],
  "DELETE /shares/:id": ({ task }) => [{ method: "DELETE", path: `/shares/${task}` }],
  "POST /runs/:id/answer": ({ task, messageId }) => [
    { method: "POST", path: `/runs/${task}/answer`, body: answers },
    {
      name: "under the message's id",
      method: "POST",
      path: `/runs/${task}/answer`,
      headers: { "idempotency-key": messageId },
      body: answers,
    },
  ],
  "POST /runs/:id/cancel": ({ task }) => [{ method: "POST", path: `/runs/${task}/cancel` }],
  "POST /runs/:id/resume": ({ task }) => [{ method: "POST", path: `/runs/${task}/resume` }],
  "DELETE /runs/:id": ({ task }) => [{ method: "DELETE", path: `/runs/${task}` }],
  "DELETE /conversations/:id": ({ contextId }) => [{ method: "DELETE", path: `/conversations/${contextId}` }],
  "POST /doorbell/:ask": ({ task }) => [
    { method: "POST", path: `/doorbell/${task}%2F1`, headers: { "X-A2A-Notification-Token": "t" }, body: {} },
  ],
};

/** The routes of the gateway without ids; those of agents are for everybody to read. */
export const gatewayPublicRoutes = [
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /.well-known/:card{agent(?:-card)?\\.json|jwks\\.json}",
  "GET /v1/models",
  "GET /v1/models/:name",
  "GET /openapi.json",
  "GET /",
  "GET /console/:file{[a-z][a-z0-9-]*\\.(?:js|css)}",
  "GET /docs",
  "GET /frame",
  "GET /frame/chart",
  "GET /style.css",
  "GET /flows",
  "GET /agents",
  "POST /agents",
  "DELETE /agents/:name",
];

/**
 * A stream that never ends, what has no ids and changes only the caller's own, and what the secret
 * of a link opens whoever sends it: their own tests read them as two principals.
 */
export const gatewayOtherRoutes = [
  "GET /changes",
  "POST /memory",
  "DELETE /memory",
  "GET /shared",
  "GET /shared/artifacts/:sha256/:name",
  "GET /shared/runs/:id",
  "GET /shared/runs/:id/tree",
  "GET /shared/runs/:id/events",
  "GET /shared/runs/:id/events/:seq",
];

/** The routes of whoever operates the system: nobody else's calls reach them. */
export const gatewayOperatorRoutes = [
  "GET /settings",
  "GET /settings/model",
  "POST /settings/model",
  "POST /settings/model/test",
  "GET /settings/sandbox",
  "POST /settings/sandbox",
  "POST /settings/sandbox/test",
  "GET /settings/mcp-servers",
  "POST /settings/mcp-servers",
  "DELETE /settings/mcp-servers/:name",
  "POST /settings/mcp-servers/:name/enable",
  "POST /settings/mcp-servers/:name/test",
  "POST /settings/mcp-servers/:name/approve",
  "POST /settings/mcp-servers/:name/sign-in",
  "GET /settings/skills",
  "GET /settings/skills/:name",
  "POST /settings/skills/:name/approve",
  "DELETE /settings/skills/:name",
  "GET /settings/flows",
  "POST /settings/flows/:name",
  "POST /settings/flows/:name/check",
  "DELETE /settings/flows/:name",
  "GET /settings/tokens",
  "POST /settings/tokens",
  "DELETE /settings/tokens/:name",
];
