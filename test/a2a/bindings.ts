import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import type { AgentServer } from "./agent-server.ts";
import { failureOf, type GrpcClient } from "./grpc-client.ts";
import { rpc, sseItems, type Wire } from "./rpc.ts";

/** What a call over some binding comes to, in ProtoJSON: its result, its events, or its error. */
export type Outcome = Wire;

/** A binding: calls a method of A2A 1.0 with params in ProtoJSON. */
export type Binding = (method: Method, params: Wire) => Promise<Outcome>;

/** How a message is read from ProtoJSON and written to it. */
export type Codec = { fromJSON(value: unknown): unknown; toJSON(value: never): unknown };

/**
 * The methods, with what their requests and answers are in protobuf, their gRPC name and their HTTP
 * route.
 */
export const methods = {
  SendMessage: [SendMessageRequest, SendMessageResponse, "sendMessage", () => "POST /message:send"],
  SendStreamingMessage: [SendMessageRequest, StreamResponse, "sendStreamingMessage", () => "POST /message:stream"],
  GetTask: [GetTaskRequest, Task, "getTask", ({ id }: Wire) => `GET /tasks/${id}`],
  ListTasks: [ListTasksRequest, ListTasksResponse, "listTasks", () => "GET /tasks"],
  CancelTask: [CancelTaskRequest, Task, "cancelTask", ({ id }: Wire) => `POST /tasks/${id}:cancel`],
  SubscribeToTask: [
    SubscribeToTaskRequest,
    StreamResponse,
    "subscribeToTask",
    ({ id }: Wire) => `POST /tasks/${id}:subscribe`,
  ],
  CreateTaskPushNotificationConfig: [
    TaskPushNotificationConfig,
    TaskPushNotificationConfig,
    "createTaskPushNotificationConfig",
    ({ taskId }: Wire) => `POST /tasks/${taskId}/pushNotificationConfigs`,
  ],
  GetTaskPushNotificationConfig: [
    GetTaskPushNotificationConfigRequest,
    TaskPushNotificationConfig,
    "getTaskPushNotificationConfig",
    ({ taskId, id }: Wire) => `GET /tasks/${taskId}/pushNotificationConfigs/${id}`,
  ],
  ListTaskPushNotificationConfigs: [
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    "listTaskPushNotificationConfigs",
    ({ taskId }: Wire) => `GET /tasks/${taskId}/pushNotificationConfigs`,
  ],
  DeleteTaskPushNotificationConfig: [
    DeleteTaskPushNotificationConfigRequest,
    undefined,
    "deleteTaskPushNotificationConfig",
    ({ taskId, id }: Wire) => `DELETE /tasks/${taskId}/pushNotificationConfigs/${id}`,
  ],
  GetExtendedAgentCard: [undefined, undefined, "getExtendedAgentCard", () => "GET /extendedAgentCard"],
} as const satisfies Record<
  string,
  readonly [Codec | undefined, Codec | undefined, Parameters<GrpcClient["call"]>[0], (params: Wire) => string]
>;

export type Method = keyof typeof methods;

/** Whether a method's answer is a stream. */
export const isStreaming = (method: Method) => method === "SendStreamingMessage" || method === "SubscribeToTask";

/** The three bindings of a server, by name. */
export function bindingsOf(server: AgentServer, grpc: GrpcClient): Readonly<Record<string, Binding>> {
  return { "JSON-RPC": overJsonRpc(server.url), "HTTP+JSON": overHttp(server.url), gRPC: overGrpc(grpc) };
}

/** As protobuf has it: fields that have their defaults are left out, whoever writes them. */
function canonical(method: Method, value: unknown): unknown {
  const codec: Codec | undefined = methods[method][1];
  return codec === undefined ? null : codec.toJSON(codec.fromJSON(value) as never);
}

function failed(reason: unknown, types: readonly string[]): Outcome {
  return { reason, fields: types.some((type) => type.endsWith("google.rpc.BadRequest")) };
}

function failedWith(details: readonly Wire[] = []): Outcome {
  return failed(
    details.find(({ reason }) => reason !== undefined)?.reason,
    details.map((one) => one["@type"]),
  );
}

function overJsonRpc(url: string): Binding {
  return async (method, params) => {
    if (isStreaming(method)) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
      const response = await fetch(url, { method: "POST", body, headers });
      if (response.headers.get("Content-Type")?.startsWith("application/json") === true)
        return failedWith(((await response.json()) as Wire).error.data);
      const events = await Array.fromAsync(sseItems(response));
      return events.map(({ data }) => canonical(method, (data as Wire).result));
    }
    const { body } = await rpc(url, method, params);
    return body.error === undefined ? canonical(method, body.result) : failedWith(body.error.data);
  };
}

function overHttp(url: string): Binding {
  return async (method, params) => {
    const [verb = "", path = ""] = methods[method][3](params).split(" ");
    const hasBody = verb === "POST" && method !== "SubscribeToTask";
    const query = hasBody ? "" : `?${new URLSearchParams(params)}`;
    const response = await fetch(`${url}${path}${query}`, {
      method: verb,
      headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
      ...(hasBody && { body: JSON.stringify(params) }),
    });
    if (!response.ok) return failedWith(((await response.json()) as Wire).error.details);
    if (!isStreaming(method)) return canonical(method, await response.json());
    return (await Array.fromAsync(sseItems(response))).map(({ data }) => canonical(method, data));
  };
}

function overGrpc(client: GrpcClient): Binding {
  return async (method, params) => {
    const [request, answer, name] = methods[method];
    const asked = (request === undefined ? { tenant: "" } : request.fromJSON(params)) as object;
    const called = isStreaming(method) ? Array.fromAsync(client.stream(name, asked)) : client.call(name, asked);
    try {
      const value: Wire = await called;
      const json = (one: unknown) => (answer === undefined ? null : answer.toJSON(one as never));
      return isStreaming(method)
        ? value.map((one: unknown) => canonical(method, json(one)))
        : canonical(method, json(value));
    } catch {
      const { reason, details } = await failureOf(called);
      return failed(reason, details);
    }
  };
}
