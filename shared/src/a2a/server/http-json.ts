import {
  A2A_CONTENT_TYPE,
  AgentCard,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  type ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { type Context, Hono } from "hono";
import type { Identify } from "../../core/caller.ts";
import { isObject } from "../../core/json.ts";
import { challengeOf } from "../../http/challenge.ts";
import { JsonTextError, parseJsonBytes } from "../../http/json-text.ts";
import { bodyOf, jsonBody } from "../../http/request-body.ts";
import { type SseFrame, sseResponse } from "../../http/sse.ts";
import { untilRevoked } from "../../http/until-revoked.ts";
import { requireVersionOne } from "../version.ts";
import { AppFailure, FieldViolationsError, httpJsonError, toA2AError } from "../wire-error.ts";
import { callFacts, type HttpCall, httpCall } from "./call-context.ts";
import type { RequestHandler, TaskBatches } from "./request-handler.ts";
import { checked, jsonName, requestSchemas } from "./request-schema.ts";
import { seqOf } from "./rpc-frame.ts";

/**
 * The HTTP+JSON binding of A2A 1.0 (section 11), to be mounted at the agent's root. A tenant before
 * the path is accepted and tells nothing apart.
 */
export function httpJsonApp(deps: HttpJsonDeps): Hono {
  const app = new Hono({ strict: false });
  app.onError((error) => httpJsonFailure(error, deps.report));
  const routes = operations(deps);
  app.route("/", routes);
  app.route("/:tenant", routes);
  return app;
}

function operations(deps: HttpJsonDeps): Hono {
  const { handler } = deps;
  const app = new Hono({ strict: false });

  app.post("/message:send", jsonBody, async (c) => {
    const { call, request } = await sending(deps, c, "SendMessage");
    const sent = await handler.sendMessage(request, call.context);
    return json(call, "messageId" in sent ? { message: Message.toJSON(sent) } : { task: Task.toJSON(sent) });
  });
  app.post("/message:stream", jsonBody, async (c) => {
    const { call, request } = await sending(deps, c, "SendStreamingMessage");
    return streamed(deps, call, handler.batches.sendMessageStream(request, call.context));
  });
  app.post("/tasks/:op{[^/]+:cancel}", async (c) => {
    const { call, id } = await naming(deps, c, ":cancel");
    const { metadata } = checked(requestSchemas.CancelTask, { ...(await optionalBodyOf(c)), id });
    const task = await handler.cancelTask({ tenant: "", id, metadata }, call.context);
    return json(call, Task.toJSON(task));
  });
  // The proto's annotation specifies GET, the specification's table POST.
  app.on(["GET", "POST"], "/tasks/:op{[^/]+:subscribe}", async (c) => {
    const { call, id } = await naming(deps, c, ":subscribe");
    return streamed(deps, call, handler.batches.resubscribe({ id }, call.context));
  });
  app.get("/tasks", async (c) => {
    const call = await begin(deps, c);
    const request = ListTasksRequest.fromJSON(checked(requestSchemas.ListTasks, query(c)));
    return json(call, listJson(await handler.listTasks(request, call.context), request.includeArtifacts ?? false));
  });
  app.get("/tasks/:id", async (c) => {
    const call = await begin(deps, c);
    const params = checked(requestSchemas.GetTask, { ...query(c), id: c.req.param("id") });
    return json(call, Task.toJSON(await handler.getTask({ tenant: "", ...params }, call.context)));
  });
  // Not part of A2A: our servers delete tasks for each other, and for callers that may run tasks.
  app.delete("/tasks/:id{[^:/]+}", async (c) => {
    const call = await begin(deps, c);
    const { id } = checked(requestSchemas.SubscribeToTask, { id: c.req.param("id") });
    return json(call, await handler.deleteTask({ id }, call.context));
  });
  app.route("/", receiverRoutes(deps));
  app.get("/extendedAgentCard", async (c) => {
    const call = await begin(deps, c);
    const card = await handler.getAuthenticatedExtendedAgentCard({ tenant: "" }, call.context);
    return json(call, AgentCard.toJSON(card));
  });
  return app;
}

/** An HTTP+JSON error response, with ErrorInfo, and with BadRequest for invalid fields. */
export function httpJsonFailure(error: unknown, report: (bug: unknown) => void): Response {
  const failure = toA2AError(error, report);
  const { status, body } = httpJsonError(failure);
  const headers = new Headers({ "Content-Type": A2A_CONTENT_TYPE, ...challengeOf(failure) });
  if (failure instanceof AppFailure && failure.status === 503) headers.set("Retry-After", "5");
  return new Response(JSON.stringify(body), { status, headers });
}

/** The response to a method that an existing path does not have. */
export function httpJsonMethodNotAllowed(allowed: readonly string[]): Response {
  const allow = allowed.join(", ");
  const error = { code: 405, status: "UNIMPLEMENTED", message: `This address takes ${allow}.`, details: [] };
  return new Response(JSON.stringify({ error }), {
    status: 405,
    headers: { "Content-Type": A2A_CONTENT_TYPE, Allow: allow },
  });
}

async function sending(deps: HttpJsonDeps, c: Context, method: "SendMessage" | "SendStreamingMessage") {
  const call = await begin(deps, c);
  const params = checked(requestSchemas[method], await jsonOf(c));
  return { call, request: SendMessageRequest.fromJSON(params) };
}

async function naming(deps: HttpJsonDeps, c: Context, verb: string): Promise<{ call: HttpCall; id: string }> {
  const call = await begin(deps, c);
  const id = (c.req.param("op") ?? "").slice(0, -verb.length);
  return { call, ...checked(requestSchemas.SubscribeToTask, { id }) };
}

/** The codec omits empty lists and an empty token, which the specification requires. */
function listJson(list: ListTasksResponse, includeArtifacts: boolean): unknown {
  const { nextPageToken, pageSize, totalSize } = list;
  const tasks = list.tasks.map((task) => ({ ...(includeArtifacts ? { artifacts: [] } : {}), ...asObject(task) }));
  return { tasks, nextPageToken, pageSize, totalSize };
}

function asObject(task: Task): object {
  return Task.toJSON(task) as object;
}

async function streamed(deps: HttpJsonDeps, call: HttpCall, batches: TaskBatches): Promise<Response> {
  const response = await sseResponse(frames(batches), {
    heartbeatMs: deps.heartbeatMs,
    release: call.release,
    headers: call.headers(),
    failure: (error) => ({ data: httpJsonError(toA2AError(error, deps.report)).body, error: true }),
  });
  return untilRevoked(response, callFacts(call.context).isStillValid);
}

async function* frames(batches: TaskBatches): AsyncGenerator<readonly SseFrame[]> {
  for await (const batch of batches)
    yield batch.map((update) => ({ data: StreamResponse.toJSON(update), id: seqOf(update) }));
}

const address = "/tasks/:taskId/pushNotificationConfigs";

/** Push notification configs over HTTP+JSON (A2A 1.0 section 11.3). */
function receiverRoutes(deps: HttpJsonDeps): Hono {
  const { handler } = deps;
  const app = new Hono({ strict: false });

  app.post(address, jsonBody, async (c) => {
    const call = await begin(deps, c);
    // The path's task is the one, whatever the body names.
    const { task_id: _, ...body } = object(await jsonOf(c));
    const asked = { ...body, taskId: c.req.param("taskId") };
    const request = TaskPushNotificationConfig.fromJSON(
      checked(requestSchemas.CreateTaskPushNotificationConfig, asked),
    );
    const made = await handler.createTaskPushNotificationConfig(request, call.context);
    return json(call, TaskPushNotificationConfig.toJSON(made));
  });
  app.get(address, async (c) => {
    const call = await begin(deps, c);
    const asked = { ...query(c), taskId: c.req.param("taskId") };
    const request = ListTaskPushNotificationConfigsRequest.fromJSON(
      checked(requestSchemas.ListTaskPushNotificationConfigs, asked),
    );
    const listed = await handler.listTaskPushNotificationConfigs(request, call.context);
    // The codec omits an empty list, which the specification requires.
    return json(call, { configs: [], ...(ListTaskPushNotificationConfigsResponse.toJSON(listed) as object) });
  });
  app.get(`${address}/:id`, async (c) => {
    const call = await begin(deps, c);
    const found = await handler.getTaskPushNotificationConfig({ tenant: "", ...named(c) }, call.context);
    return json(call, TaskPushNotificationConfig.toJSON(found));
  });
  app.delete(`${address}/:id`, async (c) => {
    const call = await begin(deps, c);
    await handler.deleteTaskPushNotificationConfig({ tenant: "", ...named(c) }, call.context);
    return json(call, {});
  });
  return app;
}

function named(c: Context) {
  return checked(requestSchemas.GetTaskPushNotificationConfig, {
    taskId: c.req.param("taskId"),
    id: c.req.param("id"),
  });
}

/** Non-objects count as empty objects. */
function object(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? { ...value } : {};
}

type HttpJsonDeps = {
  readonly handler: RequestHandler;
  readonly identify: Identify;
  readonly heartbeatMs: number;
  readonly report: (bug: unknown) => void;
};

/**
 * Identifies the caller and checks the version. Throws `unauthorized` or VersionNotSupportedError.
 */
async function begin(deps: HttpJsonDeps, c: Context): Promise<HttpCall> {
  const caller = await deps.identify(c.req.raw);
  requireVersionOne(c.req.raw);
  return httpCall(c.req.raw, caller, "1.0");
}

/** The JSON of a request's body. Throws FieldViolationsError. */
async function jsonOf(c: Context): Promise<unknown> {
  try {
    return parseJsonBytes(new Uint8Array(await bodyOf(c)));
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new FieldViolationsError([{ field: "body", description: error.message }]);
  }
}

/** The JSON object of an optional body. Throws FieldViolationsError. */
async function optionalBodyOf(c: Context): Promise<object> {
  if ((await bodyOf(c)).byteLength === 0) return {};
  const body = await jsonOf(c);
  if (typeof body === "object" && body !== null) return body;
  throw new FieldViolationsError([{ field: "body", description: "must be an object" }]);
}

/**
 * The parameters of a query, by their JSON names. Throws FieldViolationsError for one that is given
 * twice: each field has one value.
 */
function query(c: Context): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URL(c.req.url).searchParams) {
    const field = jsonName(name);
    if (values.has(field)) throw new FieldViolationsError([{ field, description: "may be given only once" }]);
    values.set(field, value);
  }
  return Object.fromEntries(values);
}

function json(call: HttpCall, value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "Content-Type": A2A_CONTENT_TYPE, ...call.headers() } });
}
