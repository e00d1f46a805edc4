import type { Call, Calls, Ids } from "./ids.ts";

/** The parameters with which a method can be asked for what ids name; none for one without ids. */
type Params = (ids: Ids) => readonly object[];

const message = (text: string, over: object) => ({
  messageId: crypto.randomUUID(),
  role: "ROLE_USER",
  parts: [{ text }],
  ...over,
});
const sends: Params = ({ task, contextId, messageId }) => [
  { message: message("answer into the task", { taskId: task }) },
  { message: message("answer into both", { taskId: task, contextId }) },
  { message: message("answer into the conversation", { contextId }) },
  { message: message("answer under the message's id", { messageId }) },
];
const hook = "https://hook.example/";

/** Every method of A2A 1.0. */
export const methods: Readonly<Record<string, Params>> = {
  SendMessage: sends,
  SendStreamingMessage: sends,
  GetTask: ({ task }) => [{ id: task }, { id: task, historyLength: 5 }],
  ListTasks: ({ contextId }) => [{ contextId }, { contextId, includeArtifacts: true }],
  CancelTask: ({ task, messageId }) => [{ id: task }, { id: "-", metadata: { "manyhands/messageId": messageId } }],
  SubscribeToTask: ({ task }) => [{ id: task }],
  CreateTaskPushNotificationConfig: ({ task, receiver }) => [{ taskId: task, id: receiver, url: hook }],
  GetTaskPushNotificationConfig: ({ task, receiver }) => [{ taskId: task, id: receiver }],
  ListTaskPushNotificationConfigs: ({ task }) => [{ taskId: task }],
  DeleteTaskPushNotificationConfig: ({ task, receiver }) => [{ taskId: task, id: receiver }],
  GetExtendedAgentCard: () => [{}],
};

const legacyMessage = (text: string, over: object) => ({
  kind: "message",
  messageId: crypto.randomUUID(),
  role: "user",
  parts: [{ kind: "text", text }],
  ...over,
});
const legacySends: Params = ({ task, contextId, messageId }) => [
  { message: legacyMessage("answer into the task", { taskId: task }) },
  { message: legacyMessage("answer into the conversation", { contextId }) },
  { message: legacyMessage("answer under the message's id", { messageId }) },
];

/** Every method of A2A 0.3. */
export const legacyMethods: Readonly<Record<string, Params>> = {
  "message/send": legacySends,
  "message/stream": legacySends,
  "tasks/get": ({ task }) => [{ id: task }],
  "tasks/cancel": ({ task }) => [{ id: task }],
  "tasks/resubscribe": ({ task }) => [{ id: task }],
  "tasks/pushNotificationConfig/set": ({ task, receiver }) => [
    { taskId: task, pushNotificationConfig: { id: receiver, url: hook } },
  ],
  "tasks/pushNotificationConfig/get": ({ task, receiver }) => [{ id: task, pushNotificationConfigId: receiver }],
  "tasks/pushNotificationConfig/list": ({ task }) => [{ id: task }],
  "tasks/pushNotificationConfig/delete": ({ task, receiver }) => [{ id: task, pushNotificationConfigId: receiver }],
  "agent/getAuthenticatedExtendedCard": () => [{}],
};

const one = { "A2A-Version": "1.0" };

const rpcCalls: Calls = (ids) =>
  [
    { table: methods, headers: one },
    { table: legacyMethods, headers: { "A2A-Version": "0.3" } },
  ].flatMap(({ table, headers }) =>
    Object.entries(table).flatMap(([method, params]) =>
      params(ids).map((given, n): Call => {
        const body = { jsonrpc: "2.0", id: 7, method, params: given };
        return { name: `${method} ${n + 1}`, method: "POST", path: "/", headers, body };
      }),
    ),
  );

const posts =
  (path: string): Calls =>
  (ids) =>
    sends(ids).map((body, n) => ({ name: `${n + 1}`, method: "POST", path, headers: one, body }));
const receivers = "/tasks/:taskId/pushNotificationConfigs";
const fileHeaders = (sha256: string) => [{}, { "If-None-Match": `"${sha256}"` }, { Range: "bytes=0-3" }];

/** The file route, which agents and gateway have. */
export const fileRoutes: Readonly<Record<string, Calls>> = {
  "GET /artifacts/:sha256{[0-9a-f]{64}}/:name": ({ sha256 }) =>
    fileHeaders(sha256).map((headers, n) => ({ name: `${n + 1}`, path: `/artifacts/${sha256}/a.txt`, headers })),
};

/** Every route of the HTTP+JSON binding that ids go into. */
const restRoutes: Readonly<Record<string, Calls>> = {
  "POST /message:send": posts("/message:send"),
  "POST /message:stream": posts("/message:stream"),
  "POST /tasks/:op{[^/]+:cancel}": ({ task }) => [{ method: "POST", path: `/tasks/${task}:cancel`, headers: one }],
  "GET /tasks/:op{[^/]+:subscribe}": ({ task }) => [
    { path: `/tasks/${task}:subscribe`, headers: one },
    { name: "after", path: `/tasks/${task}:subscribe`, headers: { ...one, "Last-Event-ID": "1" } },
  ],
  "POST /tasks/:op{[^/]+:subscribe}": ({ task }) => [
    { method: "POST", path: `/tasks/${task}:subscribe`, headers: one },
  ],
  "GET /tasks": ({ contextId }) => [{ path: `/tasks?contextId=${contextId}&includeArtifacts=true`, headers: one }],
  "GET /tasks/:id": ({ task }) => [{ path: `/tasks/${task}`, headers: one }],
  "DELETE /tasks/:id{[^:/]+}": ({ task }) => [{ method: "DELETE", path: `/tasks/${task}`, headers: one }],
  [`POST ${receivers}`]: ({ task, receiver }) => [
    { method: "POST", path: receiversOf(task), headers: one, body: { id: receiver, url: hook } },
  ],
  [`GET ${receivers}`]: ({ task }) => [{ path: receiversOf(task), headers: one }],
  [`GET ${receivers}/:id`]: ({ task, receiver }) => [{ path: `${receiversOf(task)}/${receiver}`, headers: one }],
  [`DELETE ${receivers}/:id`]: ({ task, receiver }) => [
    { method: "DELETE", path: `${receiversOf(task)}/${receiver}`, headers: one },
  ],
};

const tenantRoutes = Object.fromEntries(
  Object.entries(restRoutes).map(([route, calls]): [string, Calls] => [
    route.replace(" ", " /:tenant"),
    (ids) => calls(ids).map((call) => ({ ...call, path: `/acme${call.path}` })),
  ]),
);

/** Every route of an agent's A2A server that ids go into. */
export const a2aRoutes: Readonly<Record<string, Calls>> = {
  ...fileRoutes,
  "POST /": rpcCalls,
  ...restRoutes,
  ...tenantRoutes,
};

function receiversOf(task: string): string {
  return receivers.replace(":taskId", task);
}

/** The routes of an agent's A2A server without ids. */
export const a2aPublicRoutes = [
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /.well-known/agent.json",
  "GET /.well-known/agent-card.json",
  "GET /extendedAgentCard",
  "GET /:tenant/extendedAgentCard",
];
