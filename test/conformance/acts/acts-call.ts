import { status } from "@grpc/grpc-js";
import { type Codec, isStreaming, type Method, methods } from "../../a2a/bindings.ts";
import { failureOf, type GrpcClient } from "../../a2a/grpc-client.ts";
import { sseItems, type Wire } from "../../a2a/rpc.ts";
import type { ActsStep } from "./acts-suite.ts";

/** The bindings, by the draft's names; gRPC through a client of the server. */
export type ActsBinding = "jsonrpc" | "rest" | "grpc";

/** What came back: the object without its framing, a stream's events, or an error. */
export type ActsAnswer = {
  readonly status: number;
  readonly body: Wire;
  readonly events?: readonly Wire[];
  readonly error?: { readonly type: string; readonly message: string };
};

/**
 * The method of each operation, and its HTTP route. The names are those of the draft, old and new.
 */
const operations: Readonly<Record<string, readonly [Method, (params: Wire) => string]>> = {
  send_message: ["SendMessage", () => "POST /message:send"],
  send_streaming_message: ["SendStreamingMessage", () => "POST /message:stream"],
  get_task: ["GetTask", ({ id }) => `GET /tasks/${id}`],
  list_tasks: ["ListTasks", () => "GET /tasks"],
  cancel_task: ["CancelTask", ({ id }) => `POST /tasks/${id}:cancel`],
  subscribe_to_task: ["SubscribeToTask", ({ id }) => `POST /tasks/${id}:subscribe`],
  get_agent_card: ["GetExtendedAgentCard", ({ extended }) => `GET ${extended ? "/extendedAgentCard" : cardPath}`],
  get_extended_agent_card: ["GetExtendedAgentCard", () => "GET /extendedAgentCard"],
  set_push_notification_config: ["CreateTaskPushNotificationConfig", ({ taskId }) => `POST ${configsOf(taskId)}`],
  get_push_notification_config: ["GetTaskPushNotificationConfig", ({ taskId, id }) => `GET ${configsOf(taskId)}/${id}`],
  list_push_notification_configs: ["ListTaskPushNotificationConfigs", ({ taskId }) => `GET ${configsOf(taskId)}`],
  delete_push_notification_config: [
    "DeleteTaskPushNotificationConfig",
    ({ taskId, id }) => `DELETE ${configsOf(taskId)}/${id}`,
  ],
};

const cardPath = "/.well-known/agent-card.json";
const configsOf = (taskId: string) => `/tasks/${taskId}/pushNotificationConfigs`;
const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };

/** Where a server under test is called. */
export type ActsServer = { readonly url: string; readonly grpc: GrpcClient };

/** Calls an operation with the draft's parameters over a binding. */
export async function callOperation(
  { url, grpc }: ActsServer,
  binding: ActsBinding,
  name: string,
  asked: Wire,
): Promise<ActsAnswer> {
  const operation = operations[name];
  if (operation === undefined) throw new Error(`The draft has an operation that is not known here: ${name}`);
  const [method, route] = operation;
  const params = inForm(asked);
  if (binding === "grpc" && (name !== "get_agent_card" || params.extended)) return overGrpc(grpc, method, params);
  if (binding !== "jsonrpc" || (name === "get_agent_card" && !params.extended)) {
    const [verb = "", path = ""] = route(params).split(" ");
    const query = verb === "GET" ? `?${new URLSearchParams(params)}` : "";
    const init = { method: verb, headers, ...(verb === "POST" && { body: JSON.stringify(params) }) };
    return answered(await fetch(`${url}${path}${query}`, init), (body) => body);
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return answered(await fetch(url, { method: "POST", headers, body }), (answer) => answer.result);
}

/** Sends a raw request, its message in the form of 1.0. */
export async function callRaw(url: string, raw: NonNullable<ActsStep["raw"]>): Promise<ActsAnswer> {
  const { method, path, headers: given = {}, body: asked, body_raw: text } = raw;
  const { params, message } = (asked ?? {}) as Wire;
  const body = params?.message ? { ...(asked as Wire), params: inForm(params) } : message ? inForm(asked) : asked;
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`${url}${path}`, { method, headers: given, ...(sent !== undefined && { body: sent }) });
  return answered(response, (answer) => answer);
}

/**
 * The draft's older shapes in the form of 1.0: ids of a message beside it, nested receivers and
 * files.
 */
function inForm({ pushNotificationConfig, message, taskId, contextId, configId, ...rest }: Wire): Wire {
  if (message === undefined) {
    const about = { ...(taskId && { taskId }), ...(contextId && { contextId }), ...(configId && { id: configId }) };
    return { ...rest, ...about, ...pushNotificationConfig };
  }
  const parts = message.parts?.map(({ file, ...part }: Wire) => {
    const { name, bytes, raw = bytes, ...more } = file ?? {};
    return { ...part, ...more, ...(raw !== undefined && { raw }), ...(name !== undefined && { filename: name }) };
  });
  const ids = { messageId: crypto.randomUUID(), ...(taskId && { taskId }), ...(contextId && { contextId }) };
  return { ...rest, message: { ...ids, ...message, ...(parts && { parts }) } };
}

async function answered(response: Response, unwrap: (body: Wire) => Wire): Promise<ActsAnswer> {
  const { status } = response;
  if (response.headers.get("Content-Type")?.startsWith("text/event-stream") === true) {
    const items = await Array.fromAsync(sseItems(response));
    const events = items.map(({ data }) => ({ ...(data as Wire), ...eventOf((data as Wire).result ?? data) }));
    return { status, body: {}, events };
  }
  const text = await response.text();
  const body = text === "" ? {} : JSON.parse(text);
  if (body.error === undefined) return { status, body: unwrap(body) };
  return { status, body, error: { type: typeOf(body.error), message: body.error.message } };
}

/** The fields of an event's payload, and itself under its name in the draft. */
function eventOf({ task, message, statusUpdate, artifactUpdate }: Wire): Wire {
  const payload = task ?? message ?? statusUpdate ?? artifactUpdate;
  return { ...payload, task, message, status_update: statusUpdate, artifact_update: artifactUpdate };
}

const codes: Readonly<Record<number, string>> = {
  [-32700]: "JSONParseError",
  [-32601]: "MethodNotFoundError",
  [-32602]: "InvalidParamsError",
  [-32603]: "InternalError",
};

/** The draft's name of an error: by its reason (A2A 1.0 section 5.4), or else by its code. */
function typeOf({ code, status, data, details }: Wire): string {
  const reason: string | undefined = (data ?? details)?.find((one: Wire) => one.reason !== undefined)?.reason;
  if (code === -32602 || status === "INVALID_ARGUMENT") {
    if (reason !== "CONTENT_TYPE_NOT_SUPPORTED") return "InvalidParamsError";
  }
  const words = reason?.toLowerCase().split("_") ?? [];
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return codes[code] ?? `${name}Error`;
}

type GrpcMethod = readonly [Codec | undefined, Codec | undefined, Parameters<GrpcClient["call"]>[0], unknown];

/**
 * A call over gRPC, its request and its answer in ProtoJSON. A list has its fields there also where
 * protobuf leaves out that they are empty; an answer without a failure counts as status 200.
 */
async function overGrpc(client: GrpcClient, method: Method, params: Wire): Promise<ActsAnswer> {
  const [request, answer, name]: GrpcMethod = methods[method];
  const asked = (request === undefined ? { tenant: "" } : request.fromJSON(params)) as object;
  const empty = method === "ListTasks" ? { tasks: [], nextPageToken: "" } : {};
  const json = (value: unknown): Wire => ({ ...empty, ...(answer?.toJSON(value as never) as object | undefined) });
  const called = isStreaming(method) ? Array.fromAsync(client.stream(name, asked)) : client.call(name, asked);
  try {
    const value: Wire = await called;
    if (!isStreaming(method)) return { status: 200, body: json(value) };
    return { status: 200, body: {}, events: value.map(json).map((event: Wire) => ({ ...event, ...eventOf(event) })) };
  } catch {
    const { code, reason, message } = await failureOf(called);
    const type = typeOf({
      ...(code === status.INVALID_ARGUMENT && { status: "INVALID_ARGUMENT" }),
      details: [{ reason }],
    });
    return { status: code, body: { error: { message } }, error: { type, message } };
  }
}
